// Written from src/api/idl/authorization/v1.proto by the build. Change that file, not this one.

import type { FieldSelectorRequirement, LabelSelectorRequirement, ObjectMeta } from '../meta/v1.ts';

/** Limits a question to objects with certain values of fields, given either as text or as requirements. Needs the feature gate AuthorizeWithSelectors. */
export type FieldSelectorAttributes = {
  /** The selector as in a query, such as spec.nodeName=a. The server turns it into requirements; webhooks should take no notice of it. */
  rawSelector?: string;
  /** The selector taken apart. All requirements must be met. */
  requirements?: FieldSelectorRequirement[];
};

/** Limits a question to objects with certain labels, given either as text or as requirements. Needs the feature gate AuthorizeWithSelectors. */
export type LabelSelectorAttributes = {
  /** The selector as in a query, such as app=web. The server turns it into requirements; webhooks should take no notice of it. */
  rawSelector?: string;
  /** The selector taken apart. All requirements must be met. */
  requirements?: LabelSelectorRequirement[];
};

/** Asks whether a user may do something within one namespace, so that the right to ask can be granted there. Answered at once, never stored. */
export type LocalSubjectAccessReview = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** The question. */
  spec?: SubjectAccessReviewSpec;
  /** The answer. Filled in by the server. */
  status?: SubjectAccessReviewStatus;
};

/** A request for a path that is not a resource. */
export type NonResourceAttributes = {
  /** The path, such as /healthz. */
  path?: string;
  /** The method of the request in lower case, such as get or post. */
  verb?: string;
};

/** Verbs that are allowed on some paths. */
export type NonResourceRule = {
  /** The verbs, such as get. * is all. */
  verbs?: string[] | null;
  /** The paths. A * at the end stands for anything. */
  nonResourceURLs?: string[];
};

/** A request for a resource. */
export type ResourceAttributes = {
  /** Namespace of the object. Empty for objects of the whole cluster, or for all namespaces. Must be that of the metadata in a LocalSubjectAccessReview. */
  namespace?: string;
  /** The verb: get, list, watch, create, update, patch, delete, deletecollection, proxy or another. * is all. */
  verb?: string;
  /** API group of the resource. Empty for the core group, * is all. */
  group?: string;
  /** Version of the resource. * is all. */
  version?: string;
  /** Name of the resource, in the plural. * is all. */
  resource?: string;
  /** Name of the subresource. None if empty. */
  subresource?: string;
  /** Name of the object. All if empty. */
  name?: string;
  /** Limits the question to objects with certain values of fields. All unless set. */
  fieldSelector?: FieldSelectorAttributes;
  /** Limits the question to objects with certain labels. All unless set. */
  labelSelector?: LabelSelectorAttributes;
};

/** Verbs that are allowed on some resources. */
export type ResourceRule = {
  /** The verbs, such as get, list and create. * is all. */
  verbs?: string[] | null;
  /** API groups of the resources. Empty text is the core group, * is all. */
  apiGroups?: string[];
  /** Names of the resources, with the subresource after a slash, such as pods/log. * is all, *\/scale that subresource of all. */
  resources?: string[];
  /** Names of the objects. All if empty. */
  resourceNames?: string[];
};

/** Asks whether the client itself may do something. Answered at once, never stored. */
export type SelfSubjectAccessReview = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** The question. */
  spec?: SelfSubjectAccessReviewSpec;
  /** The answer. Filled in by the server. */
  status?: SubjectAccessReviewStatus;
};

/** What the client would like to do. Exactly one of the fields is given. */
export type SelfSubjectAccessReviewSpec = {
  /** A request for a resource. */
  resourceAttributes?: ResourceAttributes;
  /** A request for a path that is not a resource. */
  nonResourceAttributes?: NonResourceAttributes;
};

/** Asks what the client itself may do in a namespace. For showing to users; to decide about a request, ask about that request. */
export type SelfSubjectRulesReview = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** The question. */
  spec?: SelfSubjectRulesReviewSpec;
  /** The answer. Filled in by the server. */
  status?: SubjectRulesReviewStatus;
};

/** The namespace in question. */
export type SelfSubjectRulesReviewSpec = {
  /** Name of the namespace. Required. */
  namespace?: string;
};

/** Asks whether a user may do something. Answered at once, never stored. */
export type SubjectAccessReview = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** The question. */
  spec?: SubjectAccessReviewSpec;
  /** The answer. Filled in by the server. */
  status?: SubjectAccessReviewStatus;
};

/** Who would like to do what. Exactly one of the two kinds of attributes is given, and a user or groups. */
export type SubjectAccessReviewSpec = {
  /** A request for a resource. */
  resourceAttributes?: ResourceAttributes;
  /** A request for a path that is not a resource. */
  nonResourceAttributes?: NonResourceAttributes;
  /** Name of the user. If only groups are given, the question is about any member of them. */
  user?: string;
  /** Groups of the user. None are added to them. */
  groups?: string[];
  /** What else the authenticator says about the user, by key. */
  extra?: { [key: string]: string[] };
  /** UID of the user. */
  uid?: string;
};

/** The answer. */
export type SubjectAccessReviewStatus = {
  /** The request is allowed. */
  allowed?: boolean;
  /** The request is denied, whatever others say. If allowed is false too, nobody has an opinion, and the request is refused as well. */
  denied?: boolean;
  /** Why, in words for people. May be empty. */
  reason?: string;
  /** An error in deciding. The answer may hold all the same, as some roles can be missing while others allow the request. */
  evaluationError?: string;
};

/** What the client may do. The order of the rules means nothing, and there can be repetitions. */
export type SubjectRulesReviewStatus = {
  /** What is allowed on resources. */
  resourceRules?: ResourceRule[] | null;
  /** What is allowed on paths that are not resources. */
  nonResourceRules?: NonResourceRule[] | null;
  /** There may be more rules, for example because an authorizer cannot list its own. */
  incomplete?: boolean;
  /** An error in putting the rules together, which may then be incomplete. */
  evaluationError?: string;
};
