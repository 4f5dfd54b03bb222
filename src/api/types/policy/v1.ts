// Written from src/api/idl/policy/v1.proto by the build. Change that file, not this one.

import type { Condition, DeleteOptions, LabelSelector, ListMeta, ObjectMeta } from '../meta/v1.ts';

/** Asks that a pod be deleted, as far as disruption budgets allow. The metadata names the pod. */
export type Eviction = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** How the pod is to be deleted, such as its grace period. As when deleting it directly unless set. */
  deleteOptions?: DeleteOptions;
};

/** Limits how many pods of a set may be evicted at the same time. */
export type PodDisruptionBudget = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What is wanted. */
  spec?: PodDisruptionBudgetSpec;
  /** What was last observed. Written by controllers. */
  status?: PodDisruptionBudgetStatus;
};

/** A list of pod disruption budgets. */
export type PodDisruptionBudgetList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The PodDisruptionBudgets of this page. */
  items?: PodDisruptionBudget[] | null;
};

/** Which pods a budget protects, and how many of them. Of minAvailable and maxUnavailable, one is given; without either, none may be evicted. */
export type PodDisruptionBudgetSpec = {
  /** How many of the pods must stay available, as a number or as a percentage of the expected pods, rounded up. 100% forbids evictions. */
  minAvailable?: number | string;
  /** Selects the pods in the namespace of the budget. An empty selector takes all, none at all takes no pod. */
  selector?: LabelSelector;
  /** How many of the pods may be unavailable, as a number or as a percentage of the expected pods, rounded up. 0 forbids evictions. Works only for pods whose controller can be scaled. */
  maxUnavailable?: number | string;
  /** When pods that run but are not ready may be evicted: AlwaysAllow always, IfHealthyBudget only while enough other pods are healthy. IfHealthyBudget unless set. */
  unhealthyPodEvictionPolicy?: string;
};

/** What was last observed of a budget. */
export type PodDisruptionBudgetStatus = {
  /** The generation of the object that this status is about. Out of date if lower than metadata.generation. */
  observedGeneration?: number | bigint;
  /** Pods whose eviction is allowed but not yet seen by the controller, by name, and when it was allowed. Entries lapse after 2 minutes. */
  disruptedPods?: { [key: string]: string };
  /** How many pods may be evicted now. */
  disruptionsAllowed?: number;
  /** How many of the pods are ready. */
  currentHealthy?: number;
  /** How many of the pods must be ready. */
  desiredHealthy?: number;
  /** How many pods the budget counts in all. */
  expectedPods?: number;
  /** Aspects of the state, each with since when it holds. DisruptionAllowed tells whether pods may be evicted now. */
  conditions?: Condition[];
};
