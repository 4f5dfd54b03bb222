// Written from src/api/idl/history/v1alpha1.proto by the build. Change that file, not this one.

import type { JsonValue } from '../../json.ts';
import type { ListMeta, ObjectMeta } from '../meta/v1.ts';

/** For each field of an object, who set it to what it is. Read by the name of the object, such as deployments.apps:default:web; ?asOf=<revision or moment> tells it of an earlier state. */
export type Blame = {
  kind: string;
  apiVersion: string;
  /** The name is that of the object: resource and group, namespace and name, with a colon between. */
  metadata: ObjectMeta;
  /** The object. */
  object?: RecordedObject;
  /** The revision whose state is told, as a number. */
  revision?: string;
  /** The fields of the object, in its order. Fields without parts alone: the others are what these are. */
  fields?: BlamedField[] | null;
  /** The revision back to which was looked, as a number: who set the fields that nobody is named for did so before it. Absent when that is where the history that is kept begins. */
  lookedBackTo?: string;
};

/** A field with its value, and who set it. */
export type BlamedField = {
  /** Where the field is, such as spec.template.spec.containers[name=web].image. */
  path?: string;
  /** Its value. Absent where it is hidden. */
  value?: JsonValue;
  /** The client may not see the value. */
  hidden?: boolean;
  /** The revision that set it. Absent where that is older than the history that is kept. */
  revision?: string;
  /** When that was. */
  at?: string | null;
  /** Who wrote that. */
  user?: string;
  /** As which field manager. */
  manager?: string;
};

/** One field that a revision changed. */
export type Change = {
  /** Where the field is, such as spec.template.spec.containers[name=web].image. Empty for the whole object, when it was created or deleted. */
  path?: string;
  /** The value before. Absent where there was none, or where it is hidden. */
  old?: JsonValue;
  /** The value since. Absent where there is none, or where it is hidden. */
  new?: JsonValue;
  /** The client may not see the values. */
  hidden?: boolean;
};

/** Why a revision was made: the revisions that led to it, each by the one before. Read at revisions/<number>/why. It does not lead from one database to another; of a resource that has one of its own, ?fieldSelector=object.resource= names it. */
export type Explanation = {
  kind: string;
  apiVersion: string;
  /** The name is the number of the revision. */
  metadata: ObjectMeta;
  /** The revision that is explained, as a number. */
  revision?: string;
  /** From the revision that is explained back to its root. */
  links?: ExplanationLink[] | null;
  /** The revision with which it began, as a number. */
  root?: string;
  /** Why it goes no further back, in words. Absent where it began with what a person or a client did of its own. */
  unknown?: string;
  /** What else belongs to the act with which it began: revisions of the same request, and of the same client within seconds. They are no causes. */
  siblings?: ExplanationLink[];
};

/** One revision of an explanation. */
export type ExplanationLink = {
  /** The revision, as a number. */
  revision?: string;
  /** When it was committed. */
  at?: string | null;
  /** Who wrote it. */
  user?: string;
  /** As which field manager. */
  manager?: string;
  /** What was done: create, update or delete. */
  verb?: string;
  /** The object that it is a state of. */
  object?: RecordedObject;
  /** What it changed. */
  changes?: Change[];
  /** What tells that it led to the revision before it in the list, in words. */
  evidence?: string[];
  /** How sure that is: certain, likely or possible. Absent for the revision that is explained. */
  confidence?: string;
  /** There are more changes than these; the revision has them. */
  changesTruncated?: boolean;
};

/** An object that history tells of. */
export type RecordedObject = {
  /** API group. Empty for the core group. */
  group?: string;
  /** Version in which it is stored. */
  version?: string;
  /** Name of the resource, in the plural. */
  resource?: string;
  /** Kind. */
  kind?: string;
  /** Namespace. Empty for objects of the whole cluster. */
  namespace?: string;
  /** Name. */
  name?: string;
  /** UID. */
  uid?: string;
};

/** Asks that objects be what they were. Done at once, as the client's own writes; never stored. */
export type Restore = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What is to be restored. */
  spec?: RestoreSpec;
  /** What was done. Filled in by the server. */
  status?: RestoreStatus;
};

/** What became of one object. */
export type RestoreResult = {
  /** The object. */
  object?: RecordedObject;
  /** What was done to it, or would be in a dry run: created, updated, deleted, unchanged, skipped or failed. */
  action?: string;
  /** The revision that this made, as a number. */
  revision?: string;
  /** What that changed. */
  changes?: Change[];
  /** Why it was skipped or failed. */
  message?: string;
};

/** What is to be restored, and to which state. Exactly one of object and namespace is given. */
export type RestoreSpec = {
  /** One object. */
  object?: RestoredObject;
  /** Everything in a namespace, and the namespace itself. */
  namespace?: string;
  /** The revision or moment, such as 2026-01-31T12:00:00Z, whose state is wanted. */
  to?: string;
  /** The fields that are restored, such as spec.template.spec.containers[name=web].image. All unless given. */
  paths?: string[];
  /** What the object owned then is restored too. */
  withDependents?: boolean;
};

/** What was done, an object each. */
export type RestoreStatus = {
  /** The objects in the order in which they were restored. */
  results?: RestoreResult[];
};

/** The object that is restored. */
export type RestoredObject = {
  /** API group. Empty for the core group. */
  group?: string;
  /** Name of the resource, in the plural. */
  resource?: string;
  /** Namespace. Empty for objects of the whole cluster. */
  namespace?: string;
  /** Name. */
  name?: string;
};

/** One write: a state of an object, with who wrote it, when, and what it changed. Can be read and watched; nobody can write it but by writing the object. Of resources that have a database of their own, the revisions have numbers of their own: these are told of where a field selector names the resource, such as object.resource=events, and lists without it leave them out. */
export type Revision = {
  kind: string;
  apiVersion: string;
  /** The name is the number of the revision, which is the resourceVersion of the object too; the creation timestamp is when it was committed. */
  metadata: ObjectMeta;
  /** The object that it is a state of. */
  object?: RecordedObject;
  /** What was done: create, update or delete. */
  verb?: string;
  /** When it was committed. */
  at?: string | null;
  /** Who wrote it. */
  user?: string;
  /** As which field manager. */
  manager?: string;
  /** The client's user agent. */
  userAgent?: string;
  /** The address that the request came from. */
  sourceAddress?: string;
  /** Id of the request, as the audit log has it. A request may have made several revisions. */
  requestID?: string;
  /** The revision of the same object before it, as a number. Absent for the first. */
  previous?: string;
  /** The object's generation. */
  generation?: number | bigint;
  /** What it changed. Managed fields and the resourceVersion are left out. */
  changes?: Change[];
  /** There are more changes than these. */
  changesTruncated?: boolean;
  /** The state before it is older than the history that is kept, or cannot be read, so that changes are not known. */
  changesUnknown?: boolean;
  /** What a restore says of itself: the state to which it restored. */
  restored?: string;
  /** The object as it was stored then. Only where ?states=true asks for it; absent for a delete, and where the client may not see all of it. */
  state?: JsonValue;
};

/** A list of revisions, the newest first. */
export type RevisionList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The revisions. */
  items?: Revision[] | null;
};

/** What happened to an object and to what it owns, or in a namespace. Read by the name of the object, such as deployments.apps:default:web, or as namespace:default; ?since= and ?until= take a revision or a moment, ?limit= and ?continue= go through it in pages. All of it is from one database: that of the object, or, of a namespace, that of the resources that have none of their own. */
export type Timeline = {
  kind: string;
  apiVersion: string;
  /** The name is that of the object, or of the namespace. */
  metadata: ObjectMeta;
  /** What happened, the oldest first. */
  entries?: TimelineEntry[] | null;
  /** Where it goes on, for ?continue=. Absent at its end. */
  continue?: string;
};

/** One thing that happened. */
export type TimelineEntry = {
  /** The revision, as a number. */
  revision?: string;
  /** When it was committed. */
  at?: string | null;
  /** Who wrote it. */
  user?: string;
  /** As which field manager. */
  manager?: string;
  /** What was done: create, update or delete. */
  verb?: string;
  /** The object. */
  object?: RecordedObject;
  /** What changed. */
  changes?: Change[];
  /** There are more changes than these. */
  changesTruncated?: boolean;
  /** The revision that it most likely answers, as a number. */
  cause?: string;
  /** What an Event says. */
  event?: TimelineEvent;
};

/** What an Event says of the object. */
export type TimelineEvent = {
  /** Normal or Warning. */
  type?: string;
  /** Why, in one word for programs. */
  reason?: string;
  /** What, in a sentence for people. */
  message?: string;
  /** How often. */
  count?: number;
};
