// Written from src/api/idl/flowcontrol/v1.proto by the build. Change that file, not this one.

import type { ListMeta, ObjectMeta } from '../meta/v1.ts';

/** Settings of a priority level whose requests never wait. */
export type ExemptPriorityLevelConfiguration = {
  /** Share of the server's concurrency counted for the level, against the shares of all. It limits nothing here, but takes from others. 0 unless set. */
  nominalConcurrencyShares?: number;
  /** How much of that share other levels may borrow, in percent from 0 to 100. 0 unless set. */
  lendablePercent?: number;
};

/** How requests of a flow schema are divided into flows, which get equal treatment. */
export type FlowDistinguisherMethod = {
  /** ByUser makes a flow for each user, ByNamespace one for each namespace. */
  type?: string;
};

/** Assigns requests to a priority level, by who makes them and what they are for. */
export type FlowSchema = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Which requests the schema takes, and where it sends them. */
  spec?: FlowSchemaSpec;
  /** What was last observed. Written by the server. */
  status?: FlowSchemaStatus;
};

/** One aspect of the state of a flow schema, and since when it holds. Dangling tells that its priority level does not exist. */
export type FlowSchemaCondition = {
  /** Which aspect this entry describes. There is at most one entry of each type. */
  type?: string;
  /** Whether it holds: True, False or Unknown. */
  status?: string;
  /** Since when it has been so. */
  lastTransitionTime?: string | null;
  /** Why, in one word for programs. */
  reason?: string;
  /** Why, in a sentence for people. */
  message?: string;
};

/** A list of flow schemas. */
export type FlowSchemaList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The FlowSchemas of this page. */
  items?: FlowSchema[] | null;
};

/** Which requests a flow schema takes, and where it sends them. */
export type FlowSchemaSpec = {
  /** The priority level the requests go to. */
  priorityLevelConfiguration?: PriorityLevelConfigurationReference;
  /** Of the schemas that match a request, the one with the lowest number is used; of equal ones, the first by name. From 1, which is for the schema exempt alone, to 10000; 1000 unless set. */
  matchingPrecedence?: number;
  /** How the requests are divided into flows. All are one flow unless set. */
  distinguisherMethod?: FlowDistinguisherMethod;
  /** Requests that match; one rule must. None if empty. */
  rules?: PolicyRulesWithSubjects[];
};

/** What was last observed of a flow schema. */
export type FlowSchemaStatus = {
  /** Aspects of the state, each with since when it holds. */
  conditions?: FlowSchemaCondition[];
};

/** The members of a group. */
export type GroupSubject = {
  /** Name of the group, or * for all groups. */
  name?: string;
};

/** What happens to requests that cannot be served at once. */
export type LimitResponse = {
  /** Queue lets them wait, Reject refuses them with 429. */
  type?: string;
  /** How they wait. Only for Queue. */
  queuing?: QueuingConfiguration;
};

/** How many requests of a priority level are served at the same time, and what happens to more. */
export type LimitedPriorityLevelConfiguration = {
  /** Share of the server's concurrency that the level gets, against the shares of all. 30 unless set. */
  nominalConcurrencyShares?: number;
  /** What happens to requests that cannot be served at once. */
  limitResponse?: LimitResponse;
  /** How much of its share other levels may borrow while it is not needed, in percent from 0 to 100. 0 unless set. */
  lendablePercent?: number;
  /** How much the level may borrow from others, in percent of its own share. No limit unless set; 0 forbids it. */
  borrowingLimitPercent?: number;
};

/** Requests for paths that are not resources. Verb and path must match. */
export type NonResourcePolicyRule = {
  /** The verbs, such as get. * is all and must stand alone. */
  verbs?: string[] | null;
  /** The paths, such as /healthz; /metrics/* takes what is below. * is all and must stand alone. */
  nonResourceURLs?: string[] | null;
};

/** Requests, by who makes them and what they are for. One subject and one rule must match. */
export type PolicyRulesWithSubjects = {
  /** Who makes the request. At least one. */
  subjects?: Subject[] | null;
  /** Requests for resources. At least one rule of either kind is needed. */
  resourceRules?: ResourcePolicyRule[];
  /** Requests for paths that are not resources. */
  nonResourceRules?: NonResourcePolicyRule[];
};

/** A limit for how many requests of some kinds are served at the same time. */
export type PriorityLevelConfiguration = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** How the requests of the level are limited. */
  spec?: PriorityLevelConfigurationSpec;
  /** What was last observed. Written by the server. */
  status?: PriorityLevelConfigurationStatus;
};

/** One aspect of the state of a priority level, and since when it holds. Kubernetes itself sets none. */
export type PriorityLevelConfigurationCondition = {
  /** Which aspect this entry describes. There is at most one entry of each type. */
  type?: string;
  /** Whether it holds: True, False or Unknown. */
  status?: string;
  /** Since when it has been so. */
  lastTransitionTime?: string | null;
  /** Why, in one word for programs. */
  reason?: string;
  /** Why, in a sentence for people. */
  message?: string;
};

/** A list of priority levels. */
export type PriorityLevelConfigurationList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The PriorityLevelConfigurations of this page. */
  items?: PriorityLevelConfiguration[] | null;
};

/** Names a priority level. */
export type PriorityLevelConfigurationReference = {
  /** Name of the priority level. */
  name?: string;
};

/** How requests of a priority level are limited. */
export type PriorityLevelConfigurationSpec = {
  /** Exempt lets requests through at once; Limited lets only so many run. Exempt is for the level exempt alone. */
  type?: string;
  /** How many requests are served, and what happens to more. Required for Limited, not allowed otherwise. */
  limited?: LimitedPriorityLevelConfiguration;
  /** What the level leaves to others. Only for Exempt; the defaults of its parts unless set. */
  exempt?: ExemptPriorityLevelConfiguration;
};

/** What was last observed of a priority level. */
export type PriorityLevelConfigurationStatus = {
  /** Aspects of the state, each with since when it holds. */
  conditions?: PriorityLevelConfigurationCondition[];
};

/** How requests wait. */
export type QueuingConfiguration = {
  /** How many queues the level has. More of them keep flows apart better; 1 puts all into one. 64 unless set. */
  queues?: number;
  /** How many queues a flow is given, of which a request takes the shortest. Not more than queues. 8 unless set. */
  handSize?: number;
  /** How many requests can wait in a queue; more are refused. 50 unless set. */
  queueLengthLimit?: number;
};

/** Requests for resources. Verb, group, resource and namespace must match. */
export type ResourcePolicyRule = {
  /** The verbs, such as get, list and watch. * is all and must stand alone. */
  verbs?: string[] | null;
  /** API groups of the resources. Empty text is the core group, * is all and must stand alone. */
  apiGroups?: string[] | null;
  /** Names of the resources, with the subresource after a slash, such as nodes/status. * is all and must stand alone. */
  resources?: string[] | null;
  /** Requests without a namespace match: for objects of the whole cluster, or for all namespaces. False unless set. */
  clusterScope?: boolean;
  /** Namespaces of the requests. * is all and must stand alone; if empty, only requests without a namespace match, and clusterScope must be true. */
  namespaces?: string[] | null;
};

/** A service account. */
export type ServiceAccountSubject = {
  /** Namespace of the service account. */
  namespace?: string;
  /** Name of the service account, or * for all of the namespace. */
  name?: string;
};

/** Who makes a request. The field that kind names is given, and no other. */
export type Subject = {
  /** User, Group or ServiceAccount. */
  kind?: string;
  /** A user. */
  user?: UserSubject;
  /** The members of a group. */
  group?: GroupSubject;
  /** A service account. */
  serviceAccount?: ServiceAccountSubject;
};

/** A user. */
export type UserSubject = {
  /** Name of the user, or * for all users. */
  name?: string;
};
