// Written from src/api/idl/apps/v1.proto by the build. Change that file, not this one.

import type { JsonValue } from '../../json.ts';
import type { PersistentVolumeClaim, PodTemplateSpec } from '../core/v1.ts';
import type { LabelSelector, ListMeta, ObjectMeta } from '../meta/v1.ts';

/** A snapshot of the template of a stateful set or daemon set, kept for going back to it. Its data cannot be changed. */
export type ControllerRevision = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What the snapshot holds, as the controller wrote it. */
  data?: JsonValue;
  /** Number of the snapshot. A higher one is newer. */
  revision?: number | bigint;
};

/** A list of controller revisions. */
export type ControllerRevisionList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The ControllerRevisions of this page. */
  items?: ControllerRevision[] | null;
};

/** Runs one pod on every node that fits. */
export type DaemonSet = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What is wanted. */
  spec?: DaemonSetSpec;
  /** What was last observed. Written by controllers. */
  status?: DaemonSetStatus;
};

/** One aspect of the state of a daemon set, and since when it holds. Kubernetes itself sets none. */
export type DaemonSetCondition = {
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

/** A list of daemon sets. */
export type DaemonSetList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The DaemonSets of this page. */
  items?: DaemonSet[] | null;
};

/** Which pods a daemon set runs on the nodes, and how it replaces them. */
export type DaemonSetSpec = {
  /** Which pods belong to the daemon set. Must match the labels of the template; cannot be changed. */
  selector?: LabelSelector;
  /** The pods to make. Its node selector, affinity and tolerations decide which nodes get one; its restart policy must be Always. */
  template?: PodTemplateSpec;
  /** How old pods are replaced when the template changes. Step by step, one node at a time, unless set. */
  updateStrategy?: DaemonSetUpdateStrategy;
  /** Seconds a pod must be ready to count as available. 0 unless set. */
  minReadySeconds?: number;
  /** How many old revisions are kept for going back. 10 unless set. */
  revisionHistoryLimit?: number;
};

/** What was last observed of a daemon set. All counts are of nodes. */
export type DaemonSetStatus = {
  /** How many nodes run a pod of the set and are meant to. */
  currentNumberScheduled?: number;
  /** How many nodes run a pod of the set but are not meant to. */
  numberMisscheduled?: number;
  /** How many nodes are meant to run a pod of the set, whether they do or not. */
  desiredNumberScheduled?: number;
  /** How many of the nodes meant to run a pod have one that is ready. */
  numberReady?: number;
  /** The generation of the object that this status is about. Out of date if lower than metadata.generation. */
  observedGeneration?: number | bigint;
  /** How many of the nodes meant to run a pod have one of the present template. */
  updatedNumberScheduled?: number;
  /** How many of the nodes meant to run a pod have one that has been ready for at least minReadySeconds. */
  numberAvailable?: number;
  /** How many of the nodes meant to run a pod have none that is available. */
  numberUnavailable?: number;
  /** How often the name of a new revision was taken already. The controller mixes it into the next name. */
  collisionCount?: number;
  /** Aspects of the state, each with since when it holds. */
  conditions?: DaemonSetCondition[];
};

/** How the pods of a daemon set are replaced when its template changes. */
export type DaemonSetUpdateStrategy = {
  /** RollingUpdate replaces pods step by step; OnDelete waits until somebody deletes the old pod. RollingUpdate unless set. */
  type?: string;
  /** How fast pods are replaced. Only for RollingUpdate. */
  rollingUpdate?: RollingUpdateDaemonSet;
};

/** Keeps a number of equal pods running and replaces them step by step when their template changes. */
export type Deployment = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What is wanted. */
  spec?: DeploymentSpec;
  /** What was last observed. Written by controllers. */
  status?: DeploymentStatus;
};

/** One aspect of the state of a deployment, and since when it holds: Available, Progressing or ReplicaFailure. */
export type DeploymentCondition = {
  /** Which aspect this entry describes. There is at most one entry of each type. */
  type?: string;
  /** Whether it holds: True, False or Unknown. */
  status?: string;
  /** When this entry was last written, even if only its reason or message changed. */
  lastUpdateTime?: string | null;
  /** Since when it has been so. */
  lastTransitionTime?: string | null;
  /** Why, in one word for programs. */
  reason?: string;
  /** Why, in a sentence for people. */
  message?: string;
};

/** A list of deployments. */
export type DeploymentList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The Deployments of this page. */
  items?: Deployment[] | null;
};

/** Which pods a deployment keeps running, how many, and how it replaces them. */
export type DeploymentSpec = {
  /** How many pods are wanted. 1 unless set. */
  replicas?: number;
  /** Which pods belong to the deployment. Must match the labels of the template; cannot be changed. */
  selector?: LabelSelector;
  /** The pods to make. The restart policy must be Always. A change starts a new rollout. */
  template?: PodTemplateSpec;
  /** How old pods are replaced. Step by step unless set. */
  strategy?: DeploymentStrategy;
  /** Seconds a pod must be ready to count as available. 0 unless set. */
  minReadySeconds?: number;
  /** How many old replica sets are kept for going back. 10 unless set; 0 makes going back impossible. */
  revisionHistoryLimit?: number;
  /** Changes of the template wait while this is true. Scaling goes on. False unless set. */
  paused?: boolean;
  /** Seconds without progress after which the condition Progressing turns False. The rollout still goes on. 600 unless set; must be greater than minReadySeconds. */
  progressDeadlineSeconds?: number;
};

/** What was last observed of a deployment. */
export type DeploymentStatus = {
  /** The generation of the object that this status is about. Out of date if lower than metadata.generation. */
  observedGeneration?: number | bigint;
  /** How many pods there are, of the present template and of older ones, not counting those that are being deleted. */
  replicas?: number;
  /** How many of the pods have the present template. */
  updatedReplicas?: number;
  /** How many of the pods are ready. */
  readyReplicas?: number;
  /** How many of the pods have been ready for at least minReadySeconds. */
  availableReplicas?: number;
  /** How many pods are missing or not yet available. */
  unavailableReplicas?: number;
  /** Aspects of the state, each with since when it holds. */
  conditions?: DeploymentCondition[];
  /** How often the name of a new replica set was taken already. The controller mixes it into the next name. */
  collisionCount?: number;
  /** Pods that are about to end and still run. Needs the feature gate DeploymentReplicaSetTerminatingReplicas. */
  terminatingReplicas?: number;
};

/** How old pods are replaced with new ones. */
export type DeploymentStrategy = {
  /** RollingUpdate replaces pods step by step; Recreate deletes all old ones before it makes new ones. RollingUpdate unless set. */
  type?: string;
  /** How many pods may be missing or too many meanwhile. Only for RollingUpdate. */
  rollingUpdate?: RollingUpdateDeployment;
};

/** Keeps a number of equal pods running. Usually made by a deployment. */
export type ReplicaSet = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What is wanted. */
  spec?: ReplicaSetSpec;
  /** What was last observed. Written by controllers. */
  status?: ReplicaSetStatus;
};

/** One aspect of the state of a replica set, and since when it holds. ReplicaFailure tells that pods could not be created or deleted. */
export type ReplicaSetCondition = {
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

/** A list of replica sets. */
export type ReplicaSetList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The ReplicaSets of this page. */
  items?: ReplicaSet[] | null;
};

/** Which pods a replica set keeps running, and how many. */
export type ReplicaSetSpec = {
  /** How many pods are wanted. 1 unless set. */
  replicas?: number;
  /** Seconds a pod must be ready to count as available. 0 unless set. */
  minReadySeconds?: number;
  /** Which pods belong to the replica set. Must match the labels of the template; cannot be changed. */
  selector?: LabelSelector;
  /** The pods to make. A change concerns new pods only; those that run are left alone. */
  template?: PodTemplateSpec;
};

/** What was last observed of a replica set. */
export type ReplicaSetStatus = {
  /** How many pods there are, not counting those that are being deleted. */
  replicas?: number;
  /** How many of the pods have all the labels of the template. */
  fullyLabeledReplicas?: number;
  /** How many of the pods are ready. */
  readyReplicas?: number;
  /** How many of the pods have been ready for at least minReadySeconds. */
  availableReplicas?: number;
  /** The generation of the object that this status is about. Out of date if lower than metadata.generation. */
  observedGeneration?: number | bigint;
  /** Aspects of the state, each with since when it holds. */
  conditions?: ReplicaSetCondition[];
  /** Pods that are about to end and still run. Needs the feature gate DeploymentReplicaSetTerminatingReplicas. */
  terminatingReplicas?: number;
};

/** How fast a daemon set replaces its pods. Exactly one of the two values must be other than 0. */
export type RollingUpdateDaemonSet = {
  /** On how many nodes the pod may be missing during an update, as a number or as a percentage of the nodes meant to run one, rounded up. 1 unless set. */
  maxUnavailable?: number | string;
  /** How many nodes may run an old and a new pod side by side, as a number or as a percentage of the nodes meant to run one, rounded up. The old pod goes once the new one is available. 0 unless set. */
  maxSurge?: number | string;
};

/** How many pods may be missing or too many while a deployment replaces them. The two cannot both be 0. */
export type RollingUpdateDeployment = {
  /** How many of the wanted pods may be unavailable, as a number or as a percentage of replicas, rounded down. 25% unless set. */
  maxUnavailable?: number | string;
  /** How many pods there may be above the wanted number, as a number or as a percentage of replicas, rounded up. 25% unless set. */
  maxSurge?: number | string;
};

/** Which pods of a stateful set are replaced, and how many at a time. It goes from the highest ordinal to the lowest. */
export type RollingUpdateStatefulSetStrategy = {
  /** Only pods with this ordinal or a higher one are replaced; the others keep the old template. 0, which means all, unless set. */
  partition?: number;
  /** How many pods may be unavailable during an update, as a number or as a percentage of replicas, rounded down; at least 1. 1 unless set. Needs the feature gate MaxUnavailableStatefulSet. */
  maxUnavailable?: number | string;
};

/** Runs pods that keep their name and their storage when they are replaced. */
export type StatefulSet = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What is wanted. */
  spec?: StatefulSetSpec;
  /** What was last observed. Written by controllers. */
  status?: StatefulSetStatus;
};

/** One aspect of the state of a stateful set, and since when it holds. Kubernetes itself sets none. */
export type StatefulSetCondition = {
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

/** A list of stateful sets. */
export type StatefulSetList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The StatefulSets of this page. */
  items?: StatefulSet[] | null;
};

/** How the pods of a stateful set are numbered. */
export type StatefulSetOrdinals = {
  /** Number of the first pod; the others follow without gaps. 0 unless set. */
  start?: number;
};

/** What happens to the claims made from the claim templates when their pods are no longer wanted. */
export type StatefulSetPersistentVolumeClaimRetentionPolicy = {
  /** What happens when the stateful set is deleted: Retain keeps the claims, Delete deletes them. Retain unless set. */
  whenDeleted?: string;
  /** What happens to the claims of pods that scaling down removes: Retain keeps them, Delete deletes them. Retain unless set. */
  whenScaled?: string;
};

/** Which pods a stateful set runs, how many, and with which storage. */
export type StatefulSetSpec = {
  /** How many pods are wanted. 1 unless set. */
  replicas?: number;
  /** Which pods belong to the stateful set. Must match the labels of the template; cannot be changed. */
  selector?: LabelSelector;
  /** The pods to make. They are named after the set and their ordinal, such as web-0; the restart policy must be Always. */
  template?: PodTemplateSpec;
  /** Claims that every pod gets for itself, named after the template and the pod, such as data-web-0. They take the place of volumes of the same name in the pod template. Cannot be changed. */
  volumeClaimTemplates?: PersistentVolumeClaim[];
  /** Name of the headless service that gives the pods their host names. It must be made separately. Cannot be changed. */
  serviceName?: string;
  /** OrderedReady makes pods one after the other, each when the one before is ready, and removes them in reverse; Parallel does not wait when scaling. OrderedReady unless set; cannot be changed. */
  podManagementPolicy?: string;
  /** How old pods are replaced when the template changes. Step by step unless set. */
  updateStrategy?: StatefulSetUpdateStrategy;
  /** How many old revisions are kept for going back. 10 unless set; cannot be changed. */
  revisionHistoryLimit?: number;
  /** Seconds a pod must be ready to count as available. 0 unless set. */
  minReadySeconds?: number;
  /** Whether the claims of pods are deleted with the set or when it shrinks. They are kept unless set. */
  persistentVolumeClaimRetentionPolicy?: StatefulSetPersistentVolumeClaimRetentionPolicy;
  /** How the pods are numbered. From 0 unless set. */
  ordinals?: StatefulSetOrdinals;
};

/** What was last observed of a stateful set. */
export type StatefulSetStatus = {
  /** The generation of the object that this status is about. Out of date if lower than metadata.generation. */
  observedGeneration?: number | bigint;
  /** How many pods there are. */
  replicas?: number;
  /** How many of the pods are ready. */
  readyReplicas?: number;
  /** How many of the pods have the template of currentRevision. */
  currentReplicas?: number;
  /** How many of the pods have the template of updateRevision. */
  updatedReplicas?: number;
  /** Name of the revision that pods not yet updated have. */
  currentRevision?: string;
  /** Name of the revision that updated pods have. The same as currentRevision once an update is complete. */
  updateRevision?: string;
  /** How often the name of a new revision was taken already. The controller mixes it into the next name. */
  collisionCount?: number;
  /** Aspects of the state, each with since when it holds. */
  conditions?: StatefulSetCondition[];
  /** How many of the pods have been ready for at least minReadySeconds. */
  availableReplicas?: number;
};

/** How the pods of a stateful set are replaced when its template changes. */
export type StatefulSetUpdateStrategy = {
  /** RollingUpdate replaces pods one after the other; OnDelete waits until somebody deletes the old pod. RollingUpdate unless set. */
  type?: string;
  /** Which pods are replaced, and how many at a time. Only for RollingUpdate. */
  rollingUpdate?: RollingUpdateStatefulSetStrategy;
};
