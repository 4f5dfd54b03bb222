// Written from src/api/idl/scheduling/v1alpha2.proto by the build. Change that file, not this one.

import type { Condition, ListMeta, ObjectMeta } from '../meta/v1.ts';
import type { BasicSchedulingPolicy, GangSchedulingPolicy, TypedLocalObjectReference } from './v1alpha1.ts';

export type { BasicSchedulingPolicy, GangSchedulingPolicy, TypedLocalObjectReference } from './v1alpha1.ts';

/** Pods that are placed by one policy. Needs the feature gate GenericWorkload. */
export type PodGroup = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** How the pods are placed. */
  spec?: PodGroupSpec;
  /** What was last observed. Written by the scheduler. */
  status?: PodGroupStatus;
};

/** A list of pod groups. */
export type PodGroupList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The PodGroups of this page. */
  items?: PodGroup[] | null;
};

/** A resource claim that the pods of a group share. Exactly one of resourceClaimName and resourceClaimTemplateName is given. */
export type PodGroupResourceClaim = {
  /** Name of the claim in the group, a DNS label, each once. */
  name?: string;
  /** Name of a claim in the same namespace. */
  resourceClaimName?: string;
  /** Name of a template in the same namespace from which a claim is made for the group. */
  resourceClaimTemplateName?: string;
};

/** The claim that was made for a group. */
export type PodGroupResourceClaimStatus = {
  /** Name of the claim in the group. */
  name?: string;
  /** Name of the claim that was made. Absent if none was needed. */
  resourceClaimName?: string;
};

/** Where the pods of a group may be. */
export type PodGroupSchedulingConstraints = {
  /** Which places they must have in common. At most one. */
  topology?: TopologyConstraint[];
};

/** How the pods of a group are placed. Exactly one field is given. */
export type PodGroupSchedulingPolicy = {
  /** One by one. */
  basic?: BasicSchedulingPolicy;
  /** Together. */
  gang?: GangSchedulingPolicy;
};

/** How the pods of a group are placed. Cannot be changed. */
export type PodGroupSpec = {
  /** The template that the group was made from. */
  podGroupTemplateRef?: PodGroupTemplateReference;
  /** Whether the pods are placed together. */
  schedulingPolicy?: PodGroupSchedulingPolicy;
  /** Where the pods may be. Needs the feature gate TopologyAwareWorkloadScheduling. */
  schedulingConstraints?: PodGroupSchedulingConstraints;
  /** Resource claims that the pods share. At most 4. Needs the feature gate DRAWorkloadResourceClaims. */
  resourceClaims?: PodGroupResourceClaim[];
  /** What is evicted to make room: a Pod alone, or the PodGroup as a whole. Pod unless set. Needs the feature gate WorkloadAwarePreemption. */
  disruptionMode?: string;
  /** How important the group is, by a priority class. Needs the feature gate WorkloadAwarePreemption. */
  priorityClassName?: string;
  /** The number behind priorityClassName. Needs the feature gate WorkloadAwarePreemption. */
  priority?: number;
};

/** What was last observed of a group. */
export type PodGroupStatus = {
  /** Aspects of the state, such as PodGroupScheduled. */
  conditions?: Condition[];
  /** Which claims were made for the group. Needs the feature gate DRAWorkloadResourceClaims. */
  resourceClaimStatuses?: PodGroupResourceClaimStatus[];
};

/** What groups of pods are made from. */
export type PodGroupTemplate = {
  /** Name of the template, a DNS label, each once. */
  name?: string;
  /** Whether the pods of a group are placed together. */
  schedulingPolicy?: PodGroupSchedulingPolicy;
  /** Where they may be. Needs the feature gate TopologyAwareWorkloadScheduling. */
  schedulingConstraints?: PodGroupSchedulingConstraints;
  /** Resource claims that the pods of a group share. At most 4. Needs the feature gate DRAWorkloadResourceClaims. */
  resourceClaims?: PodGroupResourceClaim[];
  /** What is evicted to make room: a Pod alone, or the PodGroup as a whole. Needs the feature gate WorkloadAwarePreemption. */
  disruptionMode?: string;
  /** How important a group is, by a priority class. Needs the feature gate WorkloadAwarePreemption. */
  priorityClassName?: string;
  /** The number behind priorityClassName. Needs the feature gate WorkloadAwarePreemption. */
  priority?: number;
};

/** The template that a group was made from. */
export type PodGroupTemplateReference = {
  /** A template of a workload. Required. */
  workload?: WorkloadPodGroupTemplateReference;
};

/** A place that the pods of a group have in common. */
export type TopologyConstraint = {
  /** Label of nodes whose value must be the same, such as topology.kubernetes.io/rack. */
  key?: string;
};

/** What a scheduler must know of pods that belong together. Needs the feature gate GenericWorkload. */
export type Workload = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What groups of its pods are made from. */
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

/** A template of a workload, in the same namespace. */
export type WorkloadPodGroupTemplateReference = {
  /** Name of the workload. */
  workloadName?: string;
  /** Name of the template in it. */
  podGroupTemplateName?: string;
};

/** What groups of the pods of a workload are made from. */
export type WorkloadSpec = {
  /** The object that makes the pods, for tools that show it. Cannot be changed. */
  controllerRef?: TypedLocalObjectReference;
  /** The templates, 1 to 8. Cannot be changed. */
  podGroupTemplates?: PodGroupTemplate[] | null;
};
