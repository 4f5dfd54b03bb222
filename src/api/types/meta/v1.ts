// Written from src/api/idl/meta/v1.proto by the build. Change that file, not this one.

import type { JsonObject, JsonValue } from '../../json.ts';

/** An API group, the versions it is served in and the one clients should use. */
export type APIGroup = {
  kind?: string;
  apiVersion?: string;
  /** Name of the group, such as apps. Empty for the core group. */
  name?: string;
  /** Versions served, the preferred one first. */
  versions?: GroupVersionForDiscovery[] | null;
  /** The version to use when the client has no reason for another. */
  preferredVersion?: GroupVersionForDiscovery;
  /** Which address of the server clients should use, by the network they are in. The first entry that fits counts. Usually absent in the discovery of groups. */
  serverAddressByClientCIDRs?: ServerAddressByClientCIDR[];
};

/** The API groups that the server offers, without the core group. */
export type APIGroupList = {
  kind?: string;
  apiVersion?: string;
  /** One entry for each group. */
  groups?: APIGroup[] | null;
};

/** A resource or subresource that can be requested: its names and what can be done with it. */
export type APIResource = {
  /** Plural name as used in paths. A subresource is written with its parent, such as pods/log. */
  name?: string;
  /** Name for one object, as clients show and accept it. Empty for subresources; clients then use the kind in lower case. */
  singularName?: string;
  /** True when its objects live in namespaces. */
  namespaced?: boolean;
  /** Group of the kind, when it differs from that of the list. Set for subresources with a kind of another group, such as autoscaling for deployments/scale. */
  group?: string;
  /** Version of the kind, when it differs from that of the list. */
  version?: string;
  /** The kind of its objects, such as Pod. */
  kind?: string;
  /** What can be done with it: get, list, watch, create, update, patch, delete, deletecollection. */
  verbs?: string[] | null;
  /** Short names that kubectl accepts in its place, such as po for pods. */
  shortNames?: string[];
  /** Sets of resources that kubectl addresses together, such as all. */
  categories?: string[];
  /** A hash that changes when objects are stored in another version. Opaque: compare for equality only. */
  storageVersionHash?: string;
};

/** The resources of one API version. */
export type APIResourceList = {
  kind?: string;
  apiVersion?: string;
  /** Group and version, such as apps/v1. Only the version for the core group, which is v1. */
  groupVersion?: string;
  /** The resources and subresources, each with the verbs it offers. */
  resources?: APIResource[] | null;
};

/** The versions of the core group, as found at /api. */
export type APIVersions = {
  kind?: string;
  apiVersion?: string;
  /** Names of the versions. v1 is the only one. */
  versions?: string[] | null;
  /** Which address of the server clients should use, by the network they are in. The first entry that fits counts. */
  serverAddressByClientCIDRs?: ServerAddressByClientCIDR[] | null;
};

/** Parameters of a server-side apply. */
export type ApplyOptions = {
  kind?: string;
  apiVersion?: string;
  /** All checks and defaulting run but nothing is stored. The only value allowed is All; absent means a real change. */
  dryRun?: string[];
  /** Take over fields that other managers own instead of failing with a conflict. */
  force?: boolean;
  /** Name of the applier under which the fields are recorded in managedFields. Required; at most 128 printable characters. */
  fieldManager?: string;
};

/** One aspect of an object's state, and since when it holds. */
export type Condition = {
  /** Which aspect this entry describes. There is at most one entry of each type. */
  type?: string;
  /** Whether it holds: True, False or Unknown. */
  status?: string;
  /** The generation of the object that this status is about. Out of date if lower than metadata.generation. */
  observedGeneration?: number | bigint;
  /** Since when it has been so. */
  lastTransitionTime?: string | null;
  /** Why, in one word for programs. */
  reason?: string;
  /** Why, in a sentence for people. */
  message?: string;
};

/** Parameters of a request that creates an object. */
export type CreateOptions = {
  kind?: string;
  apiVersion?: string;
  /** All checks and defaulting run but nothing is stored. The only value allowed is All; absent means a real change. */
  dryRun?: string[];
  /** Name under which the changed fields are recorded in managedFields, at most 128 printable characters. When absent it is taken from the client's user agent, up to the first slash. */
  fieldManager?: string;
  /** What to do with unknown or duplicate fields: Ignore drops them, Warn drops them with a warning, Strict refuses the request. Warn unless set. */
  fieldValidation?: string;
};

/** How an object is to be deleted, as the body or the parameters of a delete request. */
export type DeleteOptions = {
  kind?: string;
  apiVersion?: string;
  /** Seconds the object is given to end; 0 removes it at once. When absent the kind's own default applies, for pods spec.terminationGracePeriodSeconds. Other kinds mostly take no notice. */
  gracePeriodSeconds?: number | bigint;
  /** The object is deleted only if these hold; otherwise the request fails with a conflict. */
  preconditions?: Preconditions;
  /** Deprecated, use propagationPolicy. True leaves the dependent objects in place. Not together with propagationPolicy. */
  orphanDependents?: boolean;
  /** What happens to objects owned by this one. Background deletes them afterwards, Foreground deletes them first, Orphan keeps them. The default depends on the kind and on the finalizers already set; mostly Background. */
  propagationPolicy?: string;
  /** All checks and defaulting run but nothing is stored. The only value allowed is All; absent means a real change. */
  dryRun?: string[];
  /** Deletes the object also when what is stored of it cannot be read, because a key is missing or bytes were changed. Its finalizers are not looked at and nobody is asked, which may leave behind what depends on it. Takes the right to unsafe-delete-ignore-read-errors. No difference for an object that can be read; not together with other options. */
  ignoreStoreReadErrorWithClusterBreakingPotential?: boolean;
};

/** A requirement on the value of one field. */
export type FieldSelectorRequirement = {
  /** Path of the field, such as spec.nodeName. Only the fields that the resource offers for selecting are useful. */
  key?: string;
  /** How values are compared: In, NotIn, Exists or DoesNotExist. */
  operator?: string;
  /** Values for In and NotIn, at least one. Must be empty for Exists and DoesNotExist. */
  values?: string[];
};

/** Parameters of a request for one object. */
export type GetOptions = {
  kind?: string;
  apiVersion?: string;
  /** How fresh the answer must be. Absent: the newest state; 0: any state the server has at hand; any other value: at least as new as that revision. */
  resourceVersion?: string;
};

/** A kind and its group, in whatever version. */
export type GroupKind = {
  /** Name of the group, such as apps. Empty for the core group. */
  group?: string;
  /** Name of the kind, such as Deployment. */
  kind?: string;
};

/** A resource and its group, in whatever version. */
export type GroupResource = {
  /** Name of the group, such as apps. Empty for the core group. */
  group?: string;
  /** Plural name of the resource, such as deployments. */
  resource?: string;
};

/** An API group in one of its versions. */
export type GroupVersion = {
  /** Name of the group, such as apps. Empty for the core group. */
  group?: string;
  /** Version of the group, such as v1. */
  version?: string;
};

/** A version of an API group, in the two forms in which clients need it. */
export type GroupVersionForDiscovery = {
  /** Group and version, such as apps/v1; what objects carry as apiVersion. */
  groupVersion?: string;
  /** Version only, such as v1. */
  version?: string;
};

/** A kind in one version of its group. */
export type GroupVersionKind = {
  /** Name of the group, such as apps. Empty for the core group. */
  group?: string;
  /** Version of the group, such as v1. */
  version?: string;
  /** Name of the kind, such as Deployment. */
  kind?: string;
};

/** A resource in one version of its group. */
export type GroupVersionResource = {
  /** Name of the group, such as apps. Empty for the core group. */
  group?: string;
  /** Version of the group, such as v1. */
  version?: string;
  /** Plural name of the resource, such as deployments. */
  resource?: string;
};

/** Selects objects by their labels. All parts must match; an empty selector matches everything. */
export type LabelSelector = {
  /** Labels that must be there with these values. */
  matchLabels?: { [key: string]: string };
  /** Requirements on labels, all of which must hold, together with matchLabels. */
  matchExpressions?: LabelSelectorRequirement[];
};

/** A requirement on one label: that it is there, is not there, or has one of some values. */
export type LabelSelectorRequirement = {
  /** Key of the label. */
  key?: string;
  /** How the label is compared: In, NotIn, Exists or DoesNotExist. NotIn also holds when the label is missing. */
  operator?: string;
  /** Values for In and NotIn, at least one. Must be empty for Exists and DoesNotExist. */
  values?: string[];
};

/** A list of objects of any kinds. */
export type List = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The objects, which may be of different kinds. */
  items?: JsonValue[] | null;
};

/** What every list carries: the revision it shows and where it goes on. */
export type ListMeta = {
  /** No longer set. */
  selfLink?: string;
  /** The revision the list shows; a watch started from it misses nothing. Opaque: compare for equality only. */
  resourceVersion?: string;
  /** Token for the next piece when a limit cut the list short; empty at the end. It expires after some minutes. */
  continue?: string;
  /** How many objects follow after this piece; may be inexact. Absent at the end of a list, and when labels or fields were selected. */
  remainingItemCount?: number | bigint;
  /** Which part of the whole the list is. Absent for a whole list. */
  shardInfo?: ShardInfo;
};

/** The part of a list that a client has asked for. */
export type ShardInfo = {
  /** The shardSelector of the request. */
  selector?: string;
};

/** Parameters of a request that lists, watches or deletes a collection of objects. */
export type ListOptions = {
  kind?: string;
  apiVersion?: string;
  /** Only objects whose labels match, such as app=web,tier!=test. Everything unless set. */
  labelSelector?: string;
  /** Only objects whose fields match, such as status.phase=Running. Which fields can be used depends on the resource. Everything unless set. */
  fieldSelector?: string;
  /** Keep the connection open and send changes as they happen, instead of a list. */
  watch?: boolean;
  /** Send BOOKMARK events from time to time, which carry only the revision reached. Ignored unless watching. */
  allowWatchBookmarks?: boolean;
  /** How fresh a list must be, or the revision a watch starts after. Absent: the newest state; 0: any state the server has at hand. */
  resourceVersion?: string;
  /** How resourceVersion counts for a list: Exact shows just that revision, NotOlderThan any state at least as new. Needs resourceVersion, unless a watch asks for initial events. */
  resourceVersionMatch?: string;
  /** Seconds after which the server ends the request, active or not. Without it a watch ends at a time the server chooses. */
  timeoutSeconds?: number | bigint;
  /** The most objects to return in one answer; the rest is fetched with continue. 0 or absent returns all. Not for watches. */
  limit?: number | bigint;
  /** Token from metadata.continue of the piece before. The other parameters must stay as they were. Status 410 says that the token has expired and the list must be started anew. */
  continue?: string;
  /** Begin the watch with an ADDED event for each object there is, and a BOOKMARK after the last of them. Needs resourceVersionMatch=NotOlderThan and the feature gate WatchList. */
  sendInitialEvents?: boolean;
  /** Only objects the hash of whose field lies in one of these ranges: shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000'), several joined by ||. Needs the feature gate ShardedListAndWatch. */
  shardSelector?: string;
};

/** Which fields of an object one manager has set. */
export type ManagedFieldsEntry = {
  /** Name of the manager, as its requests gave it or taken from its user agent. */
  manager?: string;
  /** How the fields were set: Apply by server-side apply, Update by any other change. */
  operation?: string;
  /** The version of the object in which the fields are written, such as apps/v1. */
  apiVersion?: string;
  /** When the entry was added or its fields last changed. */
  time?: string;
  /** Format of the fields. FieldsV1 is the only one. */
  fieldsType?: string;
  /** The fields as a tree: f: begins the name of a field, k: the keys of a list item, v: the value of a set item. */
  fieldsV1?: JsonObject;
  /** The subresource through which the fields were set, such as status. Empty for the object itself. */
  subresource?: string;
};

/** What every stored object carries: its name, identity, labels and life cycle. */
export type ObjectMeta = {
  /** Unique within the namespace for this kind. Cannot be changed. Required on creation unless generateName is given. */
  name?: string;
  /** Prefix of a name that the server completes with five random characters when no name is given. Ignored if name is set. */
  generateName?: string;
  /** The namespace the object lives in, as in the path of the request. Empty for objects of the whole cluster. Cannot be changed. */
  namespace?: string;
  /** No longer set. */
  selfLink?: string;
  /** Unique over the life of the cluster. Set by the server. */
  uid?: string;
  /** The revision of the last change. Opaque: compare for equality only. */
  resourceVersion?: string;
  /** Rises with every change of what is wanted. Set by the server. */
  generation?: number | bigint;
  /** CreationTimestamp is a timestamp in UTC, as in RFC 3339: when the object was created. Set by the server. */
  creationTimestamp?: string | null;
  /** When the object is to be gone. Set by the server when deletion is asked for; cannot be taken back. */
  deletionTimestamp?: string;
  /** Seconds the object is given to end. Set by the server together with deletionTimestamp; may only become shorter. */
  deletionGracePeriodSeconds?: number | bigint;
  /** Keys and values to select objects by. */
  labels?: { [key: string]: string };
  /** Keys and values for tools to keep what they need. Not for selecting. */
  annotations?: { [key: string]: string };
  /** The objects this one belongs to. */
  ownerReferences?: OwnerReference[];
  /** Duties to be done before the object may go. Each is removed by whoever has done it; no new ones may be added once deletion has begun. */
  finalizers?: string[];
  /** Who has set which fields. Kept by the server. */
  managedFields?: ManagedFieldsEntry[];
};

/** Names an object that this one belongs to; it goes when all its owners are gone. An owner must be in the same namespace or belong to the whole cluster. */
export type OwnerReference = {
  /** Group and version of the owner, such as apps/v1. */
  apiVersion?: string;
  /** Kind of the owner. */
  kind?: string;
  /** Name of the owner. */
  name?: string;
  /** UID of the owner. An object made later under the same name is not the owner. */
  uid?: string;
  /** True for the one owner that manages this object. At most one reference may say so. */
  controller?: boolean;
  /** With foreground deletion the owner stays until this object is gone. False unless set. May need the right to update the owner's finalizers. */
  blockOwnerDeletion?: boolean;
};

/** An object reduced to its metadata, for clients that need no more. */
export type PartialObjectMetadata = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
};

/** A list of objects reduced to their metadata. */
export type PartialObjectMetadataList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The metadata of each object of this page. */
  items?: PartialObjectMetadata[] | null;
};

/** The body of a patch request. Its form depends on the content type. */
export type Patch = {
};

/** Parameters of a request that patches an object. */
export type PatchOptions = {
  kind?: string;
  apiVersion?: string;
  /** All checks and defaulting run but nothing is stored. The only value allowed is All; absent means a real change. */
  dryRun?: string[];
  /** Take over fields that other managers own instead of failing with a conflict. Only for server-side apply. */
  force?: boolean;
  /** Name under which the changed fields are recorded in managedFields, at most 128 printable characters. When absent it is taken from the client's user agent, up to the first slash. Required for server-side apply. */
  fieldManager?: string;
  /** What to do with unknown or duplicate fields: Ignore drops them, Warn drops them with a warning, Strict refuses the request. Warn unless set. */
  fieldValidation?: string;
};

/** What must be true of an object for it to be deleted. */
export type Preconditions = {
  /** The UID it must have, so that no later object of the same name is hit. Not checked when absent. */
  uid?: string;
  /** The revision it must have, so that nothing has changed meanwhile. Not checked when absent. */
  resourceVersion?: string;
};

/** The paths the server answers at, as found at /. */
export type RootPaths = {
  /** The paths, each beginning with a slash. */
  paths?: string[] | null;
};

/** The address of the server for clients of one network. */
export type ServerAddressByClientCIDR = {
  /** The network, such as 10.0.0.0/8. 0.0.0.0/0 holds for all clients. */
  clientCIDR?: string;
  /** Host name or IP address, with a port if needed. */
  serverAddress?: string;
};

/** The answer to a request that returns no object, or failed. */
export type Status = {
  kind?: string;
  apiVersion?: string;
  /** Metadata of a list; empty for most answers. */
  metadata?: ListMeta;
  /** Success or Failure. */
  status?: string;
  /** What happened, in a sentence for people. */
  message?: string;
  /** Why it failed, in one word for programs, such as NotFound, AlreadyExists, Conflict, Invalid or Forbidden. Absent on success, and when the reason is unknown. */
  reason?: string;
  /** What the failure is about, and its causes. Which of its fields are set depends on the reason. */
  details?: StatusDetails;
  /** The HTTP status code of the answer. 0 when not known. */
  code?: number;
};

/** One of the causes of a failure. */
export type StatusCause = {
  /** What kind of cause it is, in one word for programs, such as FieldValueInvalid or FieldValueRequired. */
  reason?: string;
  /** What is wrong, in a sentence for people. */
  message?: string;
  /** Path of the field that is wrong, such as spec.containers[0].image. Absent when the cause is no field. */
  field?: string;
};

/** What a failed request was about, and the causes of the failure. */
export type StatusDetails = {
  /** Name of the object. */
  name?: string;
  /** Name of the group, such as apps. Empty for the core group. */
  group?: string;
  /** The resource or kind asked for; often the plural name, such as pods. */
  kind?: string;
  /** UID of the object, where a single object is meant and known. */
  uid?: string;
  /** The causes one by one, such as each invalid field. */
  causes?: StatusCause[];
  /** Seconds to wait before the request is tried again. Absent when there is no use in waiting, or no way to know. */
  retryAfterSeconds?: number;
};

/** Objects as rows of text and numbers, the way kubectl get shows them. */
export type Table = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The columns, in the order of the cells in each row. */
  columnDefinitions?: TableColumnDefinition[] | null;
  /** One row for each object. */
  rows?: TableRow[] | null;
};

/** One column of a table: its heading, and the type and meaning of its cells. */
export type TableColumnDefinition = {
  /** Heading of the column. */
  name?: string;
  /** Type of the cells in OpenAPI terms: string, integer, number, boolean or date. */
  type?: string;
  /** A closer description of the type, such as name for the column with the object's name, or date-time. May be empty. */
  format?: string;
  /** What the column shows, for people. */
  description?: string;
  /** 0 for columns that are always shown; those with higher numbers appear only in wide output. */
  priority?: number;
};

/** Parameters of a request for a table. */
export type TableOptions = {
  kind?: string;
  apiVersion?: string;
  /** How much of each object comes with its row: None, Metadata or Object. Metadata unless set. */
  includeObject?: string;
};

/** One object of a table. */
export type TableRow = {
  /** Values in the order of the columns: text, numbers, booleans or null. */
  cells?: JsonValue[] | null;
  /** What is special about the row. Completed marks objects that have run to their end. */
  conditions?: TableRowCondition[];
  /** The object of the row, as far as includeObject asked for it. */
  object?: JsonValue;
};

/** What is special about a row of a table. */
export type TableRowCondition = {
  /** Which property is described. Completed is the only one. */
  type?: string;
  /** Whether it holds: True, False or Unknown. */
  status?: string;
  /** Why, in one word for programs. */
  reason?: string;
  /** Why, in a sentence for people. */
  message?: string;
};

/** Parameters of a request that replaces an object. */
export type UpdateOptions = {
  kind?: string;
  apiVersion?: string;
  /** All checks and defaulting run but nothing is stored. The only value allowed is All; absent means a real change. */
  dryRun?: string[];
  /** Name under which the changed fields are recorded in managedFields, at most 128 printable characters. When absent it is taken from the client's user agent, up to the first slash. */
  fieldManager?: string;
  /** What to do with unknown or duplicate fields: Ignore drops them, Warn drops them with a warning, Strict refuses the request. Warn unless set. */
  fieldValidation?: string;
};

/** One message of a watch. */
export type WatchEvent = {
  /** What happened: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR. */
  type?: string;
  /** The object after the change; for DELETED as it was before it went. A BOOKMARK carries only the revision, an ERROR a Status. */
  object?: JsonValue;
};
