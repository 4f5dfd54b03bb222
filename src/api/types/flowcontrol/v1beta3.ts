// Written from src/api/idl/flowcontrol/v1beta3.proto by the build. Change that file, not this one.

import type { ListMeta, ObjectMeta } from '../meta/v1.ts';
import type { ExemptPriorityLevelConfiguration, FlowDistinguisherMethod, FlowSchemaStatus, PolicyRulesWithSubjects, PriorityLevelConfigurationReference, PriorityLevelConfigurationStatus } from './v1.ts';

export type { ExemptPriorityLevelConfiguration, FlowDistinguisherMethod, FlowSchemaCondition, FlowSchemaStatus, GroupSubject, NonResourcePolicyRule, PolicyRulesWithSubjects, PriorityLevelConfigurationCondition, PriorityLevelConfigurationReference, PriorityLevelConfigurationStatus, ResourcePolicyRule, ServiceAccountSubject, Subject, UserSubject } from './v1.ts';

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

/** How requests wait. */
export type QueuingConfiguration = {
  /** How many queues the level has. More of them keep flows apart better; 1 puts all into one. 64 unless set. */
  queues?: number;
  /** How many queues a flow is given, of which a request takes the shortest. Not more than queues. 8 unless set. */
  handSize?: number;
  /** How many requests can wait in a queue; more are refused. 50 unless set. */
  queueLengthLimit?: number;
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

/** A list of flow schemas. */
export type FlowSchemaList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The objects. */
  items?: FlowSchema[] | null;
};

/** What happens to requests that cannot be served at once. */
export type LimitResponse = {
  /** Queue lets them wait, Reject refuses them with 429. */
  type?: string;
  /** How they wait. Only for Queue. */
  queuing?: QueuingConfiguration;
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

/** A list of priority levels. */
export type PriorityLevelConfigurationList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The objects. */
  items?: PriorityLevelConfiguration[] | null;
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
