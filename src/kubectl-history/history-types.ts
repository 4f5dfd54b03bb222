import type { JsonValue } from '../api/object-meta.ts';

/** Answers of history.cluster.io/v1alpha1, as far as they are shown. A server may omit any field. */

export interface ObjectName {
  readonly group?: string;
  readonly version?: string;
  readonly resource?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
}

export interface Change {
  /** '' is the whole object. */
  readonly path?: string;
  readonly old?: JsonValue;
  readonly new?: JsonValue;
  /** The caller may not see the values. */
  readonly hidden?: boolean;
}

/** A write: its author, object and time. */
export interface Write {
  readonly at?: string;
  readonly user?: string;
  readonly manager?: string;
  readonly verb?: string;
  readonly object?: ObjectName;
  readonly changes?: readonly Change[] | null;
  readonly changesTruncated?: boolean;
  readonly changesUnknown?: boolean;
}

export interface Revision extends Write {
  readonly metadata?: { readonly name?: string; readonly resourceVersion?: string };
  readonly userAgent?: string;
  readonly sourceAddress?: string;
  readonly requestID?: string;
  readonly previous?: string;
  readonly generation?: number | bigint;
  readonly restored?: string;
}

/** An event in the life of an object or its dependents. */
export interface TimelineEntry extends Write {
  readonly revision?: string;
  /** The revision that most likely caused it. */
  readonly cause?: string;
  /** The content of an Event. */
  readonly event?: {
    readonly type?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly count?: number;
  };
}

export interface Timeline {
  readonly entries?: readonly TimelineEntry[] | null;
  readonly continue?: string;
}

export interface RevisionList {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly Revision[] | null;
}

export interface BlamedField {
  readonly path?: string;
  readonly value?: JsonValue;
  readonly hidden?: boolean;
  readonly revision?: string;
  readonly at?: string;
  readonly user?: string;
  readonly manager?: string;
}

export interface Blame {
  readonly object?: ObjectName;
  readonly revision?: string;
  readonly fields?: readonly BlamedField[] | null;
}

export interface ExplanationLink extends Write {
  readonly revision?: string;
  /** Why this caused the link before it. */
  readonly evidence?: readonly string[] | null;
  readonly confidence?: string;
}

export interface Explanation {
  readonly revision?: string;
  readonly links?: readonly ExplanationLink[] | null;
  readonly root?: string;
  readonly unknown?: string;
  /** Other writes of the act that began it. They are no causes. */
  readonly siblings?: readonly ExplanationLink[] | null;
}

export interface RestoreSpec {
  readonly object?: { group: string; resource: string; namespace: string; name: string };
  readonly namespace?: string;
  readonly to: string;
  readonly paths?: readonly string[];
  readonly withDependents?: boolean;
}

export interface RestoreResult {
  readonly object?: ObjectName;
  readonly action?: string;
  readonly revision?: string;
  readonly changes?: readonly Change[] | null;
  readonly message?: string;
}

export interface Restore {
  readonly status?: { readonly results?: readonly RestoreResult[] | null };
}
