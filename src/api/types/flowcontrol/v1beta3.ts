// Written from src/api/idl/flowcontrol/v1beta3.proto by the build. Change that file, not this one.

import type { ListMeta, ObjectMeta } from '../meta/v1.ts';
import type { ExemptPriorityLevelConfiguration, LimitResponse, PriorityLevelConfigurationStatus } from './v1.ts';

export type { ExemptPriorityLevelConfiguration, FlowDistinguisherMethod, FlowSchema, FlowSchemaCondition, FlowSchemaList, FlowSchemaSpec, FlowSchemaStatus, GroupSubject, LimitResponse, NonResourcePolicyRule, PolicyRulesWithSubjects, PriorityLevelConfigurationCondition, PriorityLevelConfigurationReference, PriorityLevelConfigurationStatus, QueuingConfiguration, ResourcePolicyRule, ServiceAccountSubject, Subject, UserSubject } from './v1.ts';

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
  /** The PriorityLevelConfigurations of this page. */
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
