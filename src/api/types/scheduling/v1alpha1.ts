// Written from src/api/idl/scheduling/v1alpha1.proto by the build. Change that file, not this one.

import type { ListMeta, ObjectMeta } from '../meta/v1.ts';

/** Pods of a group are placed one by one. */
export type BasicSchedulingPolicy = {
};

/** Pods of a group are placed together or not at all. */
export type GangSchedulingPolicy = {
  /** How many pods must find a place before any of them is placed. At least 1. */
  minCount?: number;
};

/** Pods of a workload that are placed by one policy. */
export type PodGroup = {
  /** Name of the group, a DNS label, each once. Pods refer to it. */
  name?: string;
  /** How the pods are placed. */
  policy?: PodGroupPolicy;
};

/** How the pods of a group are placed. Exactly one field is given. */
export type PodGroupPolicy = {
  /** One by one. */
  basic?: BasicSchedulingPolicy;
  /** Together. */
  gang?: GangSchedulingPolicy;
};

/** An object of the same namespace. */
export type TypedLocalObjectReference = {
  /** API group of the object. Empty for the core group. */
  apiGroup?: string;
  /** Kind of the object. */
  kind?: string;
  /** Name of the object. */
  name?: string;
};

/** What a scheduler must know of pods that belong together. Needs the feature gate GenericWorkload. */
export type Workload = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** How the pods are placed. */
  spec?: WorkloadSpec;
};

/** A list of workloads. */
export type WorkloadList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The Workloads of this page. */
  items?: Workload[] | null;
};

/** How the pods of a workload are placed. */
export type WorkloadSpec = {
  /** The object that makes the pods, for tools that show it. Cannot be changed once it is set. */
  controllerRef?: TypedLocalObjectReference;
  /** The groups of pods, 1 to 8. Cannot be changed. */
  podGroups?: PodGroup[] | null;
};
