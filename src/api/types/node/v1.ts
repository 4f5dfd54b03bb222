// Written from src/api/idl/node/v1.proto by the build. Change that file, not this one.

import type { Toleration } from '../core/v1.ts';
import type { ListMeta, ObjectMeta } from '../meta/v1.ts';

/** What a pod costs beyond its containers. */
export type Overhead = {
  /** The same for every pod, by resource, such as memory. It counts in scheduling, in quotas and in limits of the pod. */
  podFixed?: { [key: string]: string };
};

/** Names a container runtime that pods can ask for. */
export type RuntimeClass = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Name of the runtime in the configuration of the nodes, a DNS label. Cannot be changed. */
  handler?: string;
  /** What each pod costs with this runtime beyond its containers. Nothing unless set. */
  overhead?: Overhead;
  /** Which nodes have the runtime. All unless set. */
  scheduling?: Scheduling;
};

/** A list of runtime classes. */
export type RuntimeClassList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The RuntimeClasses of this page. */
  items?: RuntimeClass[] | null;
};

/** Where pods of a runtime class can run. It is written into the pods when they are created. */
export type Scheduling = {
  /** Labels that a node must have, added to those of the pod. A pod that asks for another value is refused. */
  nodeSelector?: { [key: string]: string };
  /** Tolerations that pods get in addition to their own. */
  tolerations?: Toleration[];
};
