// Written from src/api/idl/admissionregistration/v1beta1.proto by the build. Change that file, not this one.

import type { LabelSelector, ListMeta, ObjectMeta } from '../meta/v1.ts';
import type { AuditAnnotation, MatchCondition, Mutation, NamedRuleWithOperations, ParamKind, ParamRef, ValidatingAdmissionPolicyStatus, Validation, Variable } from './v1.ts';

export type { AuditAnnotation, ExpressionWarning, MatchCondition, NamedRuleWithOperations, ParamKind, ParamRef, TypeChecking, ValidatingAdmissionPolicyStatus, Validation, Variable, MutatingWebhookConfiguration, MutatingWebhookConfigurationList, ValidatingWebhookConfiguration, ValidatingWebhookConfigurationList, ApplyConfiguration, JSONPatch, Mutation } from './v1.ts';

/** Which requests a policy is about. All parts must match. */
export type MatchResources = {
  /** Labels of the object's namespace, or of the object if it is a namespace itself. Objects of the whole cluster always match. All unless set. */
  namespaceSelector?: LabelSelector;
  /** Labels of the object, before or after the change. All unless set. */
  objectSelector?: LabelSelector;
  /** Operations and resources, of which one rule must match. A policy needs at least one; in a binding, all unless set. */
  resourceRules?: NamedRuleWithOperations[];
  /** Operations and resources that do not match. They win over resourceRules. None unless set. */
  excludeResourceRules?: NamedRuleWithOperations[];
  /** Exact compares the request as it is; Equivalent also takes requests for the same resource in another group or version, converted. Equivalent unless set. */
  matchPolicy?: string;
};

/** Which requests a policy is about, and its changes. */
export type MutatingAdmissionPolicySpec = {
  /** The kind of the objects with parameters. Without one, the policy has none, and params is null. */
  paramKind?: ParamKind;
  /** Which requests the policy is about. Required. DELETE is not allowed: there is nothing to change. */
  matchConstraints?: MatchResources;
  /** Expressions that the other expressions can use by name. Each can use those before it. None unless set. */
  variables?: Variable[];
  /** The changes, in the order in which they are made. At least one. */
  mutations?: Mutation[];
  /** What happens if an expression fails with an error or the policy is set up wrongly: Fail refuses the request, Ignore goes on without the change. Fail unless set. */
  failurePolicy?: string;
  /** Conditions, at most 64, that must all be true for the policy to be used. If one fails with an error and none is false, failurePolicy holds. None unless set. */
  matchConditions?: MatchCondition[];
  /** IfNeeded uses the policy a second time if the object has changed after it, Never does not. Required. */
  reinvocationPolicy?: string;
};

/** Which requests a policy is about, and its rules. At least one of validations and auditAnnotations is given. */
export type ValidatingAdmissionPolicySpec = {
  /** The kind of the objects with parameters. Without one, the policy has none, and params is null. */
  paramKind?: ParamKind;
  /** Which requests the policy is about. Required. */
  matchConstraints?: MatchResources;
  /** The rules. All must hold. */
  validations?: Validation[];
  /** What happens if an expression fails with an error or the policy is set up wrongly: Fail treats it as a broken rule, Ignore goes on. Fail unless set. */
  failurePolicy?: string;
  /** Notes for the audit log, at most 20. None unless set. */
  auditAnnotations?: AuditAnnotation[];
  /** Conditions, at most 64, that must all be true for the policy to be checked. If one fails with an error and none is false, failurePolicy holds. None unless set. */
  matchConditions?: MatchCondition[];
  /** Expressions that the other expressions can use by name. Each can use those before it. None unless set. */
  variables?: Variable[];
};

/** Rules in CEL that decide whether requests are allowed. It takes effect through bindings. */
export type ValidatingAdmissionPolicy = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Which requests the policy is about, and its rules. */
  spec?: ValidatingAdmissionPolicySpec;
  /** What was last observed. Written by controllers. */
  status?: ValidatingAdmissionPolicyStatus;
};

/** Puts a policy to use: for which objects, with which parameters, and with what consequences. */
export type ValidatingAdmissionPolicyBinding = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Which policy is used, where and how. */
  spec?: ValidatingAdmissionPolicyBindingSpec;
};

/** A list of bindings of validating admission policies. */
export type ValidatingAdmissionPolicyBindingList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The ValidatingAdmissionPolicyBindings of this page. */
  items?: ValidatingAdmissionPolicyBinding[] | null;
};

/** Which policy is used, where and how. */
export type ValidatingAdmissionPolicyBindingSpec = {
  /** Name of the policy. Without effect while there is no such policy. Required. */
  policyName?: string;
  /** Objects with parameters for the policy. Not needed if the policy has no paramKind. */
  paramRef?: ParamRef;
  /** Narrows the requests the policy is about. All those of the policy unless set. */
  matchResources?: MatchResources;
  /** What follows when a rule is broken: Deny refuses the request, Warn tells the client, Audit writes a note to the audit log. At least one; Deny and Warn exclude each other. */
  validationActions?: string[];
};

/** A list of validating admission policies. */
export type ValidatingAdmissionPolicyList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The ValidatingAdmissionPolicies of this page. */
  items?: ValidatingAdmissionPolicy[] | null;
};

/** Expressions in CEL that change objects before they are stored. It takes effect through bindings. */
export type MutatingAdmissionPolicy = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Which requests the policy is about, and its changes. */
  spec?: MutatingAdmissionPolicySpec;
};

/** Puts a policy to use: for which objects, and with which parameters. A policy runs once for each binding and parameter. */
export type MutatingAdmissionPolicyBinding = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Which policy is used, and where. */
  spec?: MutatingAdmissionPolicyBindingSpec;
};

/** A list of bindings of mutating admission policies. */
export type MutatingAdmissionPolicyBindingList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The MutatingAdmissionPolicyBindings of this page. */
  items?: MutatingAdmissionPolicyBinding[] | null;
};

/** Which policy is used, and where. */
export type MutatingAdmissionPolicyBindingSpec = {
  /** Name of the policy. Without effect while there is no such policy. Required. */
  policyName?: string;
  /** Objects with parameters for the policy. Not needed if the policy has no paramKind. */
  paramRef?: ParamRef;
  /** Narrows the requests the policy is about. All those of the policy unless set. DELETE is not allowed: there is nothing to change. */
  matchResources?: MatchResources;
};

/** A list of mutating admission policies. */
export type MutatingAdmissionPolicyList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The MutatingAdmissionPolicies of this page. */
  items?: MutatingAdmissionPolicy[] | null;
};
