// Written from src/api/idl/events/v1.proto by the build. Change that file, not this one.

import type { EventSource, ObjectReference } from '../core/v1.ts';
import type { ListMeta, ObjectMeta } from '../meta/v1.ts';

/** A report that something happened in the cluster. Kept for a short time only; for people, not for programs to rely on. */
export type Event = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** When the event was first observed, to the microsecond. Required. */
  eventTime?: string | null;
  /** Set when the event repeats: how often and until when. */
  series?: EventSeries;
  /** The controller that reports, such as kubernetes.io/kubelet. Required in new events. */
  reportingController?: string;
  /** Which instance of the controller reports, such as the name of its pod; at most 128 bytes. Required in new events. */
  reportingInstance?: string;
  /** What was done or failed, in one word for programs, at most 128 bytes. Required in new events. */
  action?: string;
  /** Why it was done, in one word for programs, such as FailedMount; at most 128 bytes. Required in new events. */
  reason?: string;
  /** The object the event is about. */
  regarding?: ObjectReference;
  /** A second object that the event touches. */
  related?: ObjectReference;
  /** What happened, in a sentence for people, at most 1024 bytes. */
  note?: string;
  /** Normal or Warning. */
  type?: string;
  /** Who reports, in the older form. */
  deprecatedSource?: EventSource;
  /** When the event was first recorded, in the older form. */
  deprecatedFirstTimestamp?: string | null;
  /** When the event was last recorded, in the older form. */
  deprecatedLastTimestamp?: string | null;
  /** How often it has happened, in the older form. */
  deprecatedCount?: number;
};

/** A list of events. */
export type EventList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The Events of this page. */
  items?: Event[] | null;
};

/** How often an event has repeated, and until when. */
export type EventSeries = {
  /** How often it has happened so far. At least 2. */
  count?: number;
  /** When it was last observed. */
  lastObservedTime?: string | null;
};
