// Written from src/api/idl/scheduling/v1.proto by the build. Change that file, not this one.

import type { ListMeta, ObjectMeta } from '../meta/v1.ts';

/** Gives a name to how important a pod is. */
export type PriorityClass = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** The priority; higher comes first. At most 1000000000 outside the classes of the system. Cannot be changed. */
  value?: number;
  /** Pods that name no class get this one. A second class that has it is refused. False unless set. */
  globalDefault?: boolean;
  /** What the class is for, for people. */
  description?: string;
  /** PreemptLowerPriority lets pods of the class push out less important ones when there is no room, Never lets them only wait in front of others. PreemptLowerPriority unless set; cannot be changed. */
  preemptionPolicy?: string;
};

/** A list of priority classes. */
export type PriorityClassList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The PriorityClasses of this page. */
  items?: PriorityClass[] | null;
};
