// Written from src/api/idl/admissionregistration/v1.proto by the build. Change that file, not this one.

import type { Condition, LabelSelector, ListMeta, ObjectMeta } from '../meta/v1.ts';

/** An expression that gives an apply configuration. */
export type ApplyConfiguration = {
  /** Expression in CEL that gives an Object, such as Object{spec: Object.spec{replicas: 3}}. Its fields are merged as by server-side apply; it must not name lists, maps or structs that are replaced as one. It can use object, oldObject, request, params, namespaceObject, variables and authorizer. */
  expression?: string;
};

/** A note about the request that a policy adds to the audit log. */
export type AuditAnnotation = {
  /** Name of the note, at most 63 characters, each once in a policy. The log shows it after the name of the policy and a slash. */
  key?: string;
  /** Expression in CEL that gives the text, which is cut at 10 KiB. There is no note if it gives null or an empty text. */
  valueExpression?: string;
};

/** Something in an expression of a policy that does not fit the types it is about. */
export type ExpressionWarning = {
  /** Path of the expression, such as spec.validations[0].expression. */
  fieldRef?: string;
  /** What is wrong, for each type. */
  warning?: string;
};

/** An expression that gives a JSON patch. */
export type JSONPatch = {
  /** Expression in CEL that gives a list of JSONPatch, such as [JSONPatch{op: "add", path: "/spec/replicas", value: 3}]. jsonpatch.escapeKey(text) makes a part of a path. It can use object, oldObject, request, params, namespaceObject, variables and authorizer. Nothing changes if an operation test fails. */
  expression?: string;
};

/** A condition in CEL for a webhook or policy to be used. */
export type MatchCondition = {
  /** Name of the condition, each once, for messages. */
  name?: string;
  /** Expression that must be true. It can use object, oldObject, request and authorizer, and in policies also params. */
  expression?: string;
};

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

/** A change of the object. */
export type Mutation = {
  /** Kind of the change: ApplyConfiguration or JSONPatch. The field of that name is given, and no other. */
  patchType?: string;
  /** Expression that gives the fields to be set. */
  applyConfiguration?: ApplyConfiguration;
  /** Expression that gives the operations of a JSON patch. */
  jsonPatch?: JSONPatch;
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

/** A webhook that can change objects before they are stored. */
export type MutatingWebhook = {
  /** Name of the webhook, at least three parts with dots between, such as defaults.example.com. Each can appear once. */
  name?: string;
  /** How to reach the webhook. */
  clientConfig?: WebhookClientConfig;
  /** Operations and resources the webhook is called for; one rule must match. The configurations of webhooks and policies themselves are never sent. */
  rules?: RuleWithOperations[];
  /** What happens if the webhook cannot be reached or answers wrongly: Fail refuses the request, Ignore goes on. Fail unless set. */
  failurePolicy?: string;
  /** Exact compares the request as it is; Equivalent also takes requests for the same resource in another group or version, converted. Equivalent unless set. */
  matchPolicy?: string;
  /** Labels of the object's namespace, or of the object if it is a namespace itself. Objects of the whole cluster always match. All unless set. */
  namespaceSelector?: LabelSelector;
  /** Labels of the object, before or after the change. All unless set. Users can evade it by changing the labels. */
  objectSelector?: LabelSelector;
  /** Whether the webhook does anything beyond answering: None, or NoneOnDryRun if not in dry runs. Required. */
  sideEffects?: string;
  /** Seconds to wait for an answer, from 1 to 30; then failurePolicy holds. 10 unless set. */
  timeoutSeconds?: number;
  /** Versions of AdmissionReview the webhook understands, best first. The first that the server knows is used: v1 or v1beta1. */
  admissionReviewVersions?: string[] | null;
  /** IfNeeded calls the webhook a second time if others have changed the object after it, Never does not. Never unless set. */
  reinvocationPolicy?: string;
  /** Conditions, at most 64, that must all be true for the webhook to be called. If one fails with an error and none is false, failurePolicy holds. None unless set. */
  matchConditions?: MatchCondition[];
};

/** Names webhooks that can change objects before they are stored. */
export type MutatingWebhookConfiguration = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** The webhooks. They are called one after the other. */
  webhooks?: MutatingWebhook[];
};

/** A list of configurations of mutating webhooks. */
export type MutatingWebhookConfigurationList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The MutatingWebhookConfigurations of this page. */
  items?: MutatingWebhookConfiguration[] | null;
};

/** Operations and resources, and possibly names of objects. */
export type NamedRuleWithOperations = {
  /** Names of the objects. All unless set. */
  resourceNames?: string[];
  /** CREATE, UPDATE, DELETE or CONNECT; * is all and must stand alone. */
  operations?: string[];
  /** API groups; empty text is the core group, * is all and must stand alone. */
  apiGroups?: string[];
  /** Versions; * is all and must stand alone. */
  apiVersions?: string[];
  /** Names of the resources, such as pods or pods/log. * is all without subresources, *\/* all with them, pods/* all subresources of pods, *\/scale that subresource of all. */
  resources?: string[];
  /** Cluster takes only objects of the whole cluster, Namespaced only those in namespaces, * both. * unless set. */
  scope?: string;
};

/** The kind of the objects with parameters for a policy. */
export type ParamKind = {
  /** Group and version of the kind, such as example.com/v1. */
  apiVersion?: string;
  /** The kind. */
  kind?: string;
};

/** Which objects hold parameters for a policy. Exactly one of name and selector is given. */
export type ParamRef = {
  /** Name of the object. */
  name?: string;
  /** Namespace of the objects. That of the object in the request unless set; not allowed if the kind belongs to the whole cluster. */
  namespace?: string;
  /** Labels of the objects. The policy is checked with each of them. */
  selector?: LabelSelector;
  /** What happens if there is no such object: Allow lets the request pass, Deny leaves it to the failurePolicy of the policy. Required. */
  parameterNotFoundAction?: string;
};

/** Resources in some groups and versions. */
export type Rule = {
  /** API groups; empty text is the core group, * is all and must stand alone. */
  apiGroups?: string[];
  /** Versions; * is all and must stand alone. */
  apiVersions?: string[];
  /** Names of the resources, such as pods or pods/log. * is all without subresources, *\/* all with them, pods/* all subresources of pods, *\/scale that subresource of all. */
  resources?: string[];
  /** Cluster takes only objects of the whole cluster, Namespaced only those in namespaces, * both. * unless set. */
  scope?: string;
};

/** Operations and the resources they are about. Both must match. */
export type RuleWithOperations = {
  /** CREATE, UPDATE, DELETE or CONNECT; * is all and must stand alone. */
  operations?: string[];
  /** API groups; empty text is the core group, * is all and must stand alone. */
  apiGroups?: string[];
  /** Versions; * is all and must stand alone. */
  apiVersions?: string[];
  /** Names of the resources, such as pods or pods/log. * is all without subresources, *\/* all with them, pods/* all subresources of pods, *\/scale that subresource of all. */
  resources?: string[];
  /** Cluster takes only objects of the whole cluster, Namespaced only those in namespaces, * both. * unless set. */
  scope?: string;
};

/** A service that answers for a webhook. */
export type ServiceReference = {
  /** Namespace of the service. */
  namespace?: string;
  /** Name of the service. */
  name?: string;
  /** Path of the request. / unless set. */
  path?: string;
  /** Port of the service, from 1 to 65535. 443 unless set. */
  port?: number;
};

/** What was found when the expressions of a policy were checked against the types it is about. */
export type TypeChecking = {
  /** What does not fit. Empty if all does. */
  expressionWarnings?: ExpressionWarning[];
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

/** What was last observed of a policy. */
export type ValidatingAdmissionPolicyStatus = {
  /** The generation of the object that this status is about. Out of date if lower than metadata.generation. */
  observedGeneration?: number | bigint;
  /** What was found when the expressions were checked against the types. Absent until that is done. */
  typeChecking?: TypeChecking;
  /** Aspects of the state, each with since when it holds. */
  conditions?: Condition[];
};

/** A webhook that can refuse requests. */
export type ValidatingWebhook = {
  /** Name of the webhook, at least three parts with dots between, such as limits.example.com. Each can appear once. */
  name?: string;
  /** How to reach the webhook. */
  clientConfig?: WebhookClientConfig;
  /** Operations and resources the webhook is called for; one rule must match. The configurations of webhooks and policies themselves are never sent. */
  rules?: RuleWithOperations[];
  /** What happens if the webhook cannot be reached or answers wrongly: Fail refuses the request, Ignore goes on. Fail unless set. */
  failurePolicy?: string;
  /** Exact compares the request as it is; Equivalent also takes requests for the same resource in another group or version, converted. Equivalent unless set. */
  matchPolicy?: string;
  /** Labels of the object's namespace, or of the object if it is a namespace itself. Objects of the whole cluster always match. All unless set. */
  namespaceSelector?: LabelSelector;
  /** Labels of the object, before or after the change. All unless set. Users can evade it by changing the labels. */
  objectSelector?: LabelSelector;
  /** Whether the webhook does anything beyond answering: None, or NoneOnDryRun if not in dry runs. Required. */
  sideEffects?: string;
  /** Seconds to wait for an answer, from 1 to 30; then failurePolicy holds. 10 unless set. */
  timeoutSeconds?: number;
  /** Versions of AdmissionReview the webhook understands, best first. The first that the server knows is used: v1 or v1beta1. */
  admissionReviewVersions?: string[] | null;
  /** Conditions, at most 64, that must all be true for the webhook to be called. If one fails with an error and none is false, failurePolicy holds. None unless set. */
  matchConditions?: MatchCondition[];
};

/** Names webhooks that can refuse requests. */
export type ValidatingWebhookConfiguration = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** The webhooks. They are called side by side. */
  webhooks?: ValidatingWebhook[];
};

/** A list of configurations of validating webhooks. */
export type ValidatingWebhookConfigurationList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The ValidatingWebhookConfigurations of this page. */
  items?: ValidatingWebhookConfiguration[] | null;
};

/** A rule in CEL that requests must meet. */
export type Validation = {
  /** Expression that is true of allowed requests. It can use object, oldObject, request, params, namespaceObject, variables and authorizer; object is null when deleting, oldObject when creating. */
  expression?: string;
  /** Text of the error, without line breaks. Says which expression failed unless set; required if the expression has line breaks. */
  message?: string;
  /** Reason of the refusal: Unauthorized, Forbidden, Invalid or RequestEntityTooLarge. Invalid unless set. */
  reason?: string;
  /** Expression in CEL that gives the text of the error. It wins over message, which is used if it fails or gives an empty text or one with line breaks. */
  messageExpression?: string;
};

/** An expression with a name, for use in other expressions of the policy. */
export type Variable = {
  /** Name of the variable, a CEL identifier, each once. Others use it as variables.name. */
  name?: string;
  /** Expression in CEL that gives the value. It is worked out when first used. */
  expression?: string;
};

/** How to reach a webhook. Exactly one of url and service is given. */
export type WebhookClientConfig = {
  /** Address, beginning with https://. Without user, query and fragment. */
  url?: string;
  /** A service in the cluster. */
  service?: ServiceReference;
  /** Certificates, in PEM, that the webhook's certificate is checked against. Those of the server's system unless set. */
  caBundle?: string;
};
