import type { Life } from '../api/emulation.ts';
import type { Gates } from '../api/feature-gates.ts';
import type { GroupResource, GroupVersionKind, ResourceOf } from '../api/names.ts';
import type { ApiObject, JsonObject, ObjectMeta } from '../api/object-meta.ts';
import type { FieldError } from '../api/status.ts';
import type { PodSpec } from '../api/types/core/v1.ts';
import type { ResourceVerb } from '../request/api-request.ts';
import type { Backend } from '../request/backend.ts';
import type { CustomVersion } from './custom.ts';
import type { Strategy } from './strategy.ts';
import type { TokenIssuing } from './token-issuing.ts';

/**
 * A resource type in one API group. Built-in resources are such literals (resources/<group>/<resource>.ts); custom resources
 * are converted from their definitions.
 */
export interface ResourceDefinition extends GroupResource, ResourceTraits, ColumnSet {
  readonly singular: string;
  readonly kind: string;
  /** '' for types that cannot be listed (virtual types). */
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly DefinedVerb[];
  /** In order of preference. */
  readonly versions: readonly ServedVersion[];
  /**
   * The storage of the objects: another definition's identity when two groups share one storage (events). `version` is the
   * served version whose form is stored, `type` its IDL name.
   */
  readonly storage: GroupResource & {
    readonly version: string;
    readonly type: string;
  };
  readonly subresources: readonly Subresource[];
  /** Takes the stored form. */
  cells(object: ApiObject, now: number): readonly Cell[];
  /** The order of rows in a list, if it is not that of names. */
  rank?(object: ApiObject): number;
  /** Tables of older versions of Kubernetes. */
  readonly olderTables?: readonly (Life & ColumnSet)[];
  readonly fields: SelectableFields;
  readonly strategy: Strategy;
  /** For a version of a custom resource. */
  readonly custom?: CustomVersion;
}

/** Traits of a few resources, with objects of type `T`, beyond their verbs. */
export interface ResourceTraits<T extends ApiObject = ApiObject> {
  /** Resources whose object of the same name is deleted with this one. */
  readonly removedAlong?: readonly ResourceDefinition[];
  /** For resources that are only posted: the action on the object in the body that a create performs. */
  readonly actsOn?: { readonly resource: GroupResource; readonly subresource: string };
  /** The objects are pods, or pods are made from them. */
  readonly podTemplate?: PodTemplateReader<T>;
  /** Objects are questions about users and their rights: a create answers them and stores nothing. */
  readonly isReview?: boolean;
  /** Admission that ignores these objects, because they configure it, or because a question must be answered. */
  readonly exemptFrom?: readonly ('webhooks' | 'policies')[];
  /** The older name in quotas, before there was `count/…`. Both names are counted. */
  readonly quotaName?: string;
  /** Additional query parameters of a get or a list, by name. */
  readonly parameters?: Partial<Record<'get' | 'list', Readonly<Record<string, 'string' | 'integer'>>>>;
  /** New objects get this finalizer. A controller of volumes removes it once nothing uses the object. */
  readonly protection?: string;
}

/** Reads the pod of objects of type `T`. */
export interface PodTemplateReader<T extends ApiObject = ApiObject> {
  /** The path of the pod's spec, for messages. */
  readonly path: string;
  read(object: T): { readonly metadata?: ObjectMeta; readonly spec?: PodSpec } | undefined;
}

export type DefinedVerb = Exclude<ResourceVerb, 'connect'>;

export interface ServedVersion extends Life {
  readonly version: string;
  /** IDL name of the type, for example `apps/v1.Deployment`; CUSTOM_TYPE for custom resources. */
  readonly type: string;
  /** Served without --runtime-config. */
  readonly enabledByDefault: boolean;
  /** The feature that the version requires, also when --runtime-config enables it. */
  readonly gate?: string;
  /** Converts between this version's form and the stored one; undefined: they differ only in apiVersion. */
  readonly conversion?: Conversion;
  /** For a version whose clients are warned. */
  readonly deprecation?: VersionDeprecation;
}

export interface VersionDeprecation {
  readonly warning: string;
  /** The version of Kubernetes that serves it no more. */
  readonly removedRelease?: string;
}

export interface Conversion {
  toStorage(object: ApiObject): ApiObject;
  fromStorage(object: ApiObject): ApiObject;
}

/** A cell as kubectl prints it; null prints as nothing. */
export type Cell = string | number | bigint | boolean | null;

/** metav1.TableColumnDefinition. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format: string;
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority: number;
  readonly description: string;
}

/** How objects become table rows. */
export interface ColumnSet {
  readonly columns: readonly Column[];
  /** One cell per column. `now` is in epoch milliseconds. */
  cells(object: ApiObject, now: number): readonly Cell[];
}

export interface SelectableFields {
  /**
   * Values for field selectors, from the stored form, by canonical label. The server adds `metadata.name` and
   * `metadata.namespace`.
   */
  readonly names: readonly string[];
  read(object: JsonObject): Record<string, string>;
  /** Other labels by canonical one, for example `spec.host` → `spec.nodeName`. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Fields of frequent lookups, for which a scan of all objects would be too slow. */
  readonly indexed?: readonly string[];
}

/**
 * A part of an object, or an action on it, under its own path. `view` subresources read and write the parent object; `action`
 * ones accept a body of their own kind; `connect` ones forward the request to another server.
 */
export type Subresource = ViewSubresource | ActionSubresource | ConnectSubresource;

interface SubresourceBase extends Life {
  /** The last path segment: `status`, `scale`, `eviction`. */
  readonly name: string;
  /** Kind of the bodies, as discovery shows it. */
  readonly served: GroupVersionKind;
  /** IDL name of that kind. */
  readonly type: string;
  readonly verbs: readonly string[];
}

export interface ViewSubresource<T extends ApiObject = ApiObject, View extends ApiObject = T>
  extends SubresourceBase {
  readonly access: 'view';
  /** The answer to GET, from the stored form of the parent. Identity for `status`. */
  read(parent: T): View;
  /** The object that a patch or an applied configuration changes, if it differs from the answer to GET. */
  readForChange?(parent: T): View;
  /**
   * Returns the parent after a write of `view`. Takes only permitted changes from `view`; the result is passed to `validate`
   * and stored. Must not change `old`.
   */
  write(view: View, old: T, isOn?: Gates): T;
  /** Converts an applied configuration of the view's kind to one of the parent; absent where both are one kind. */
  toParent?(config: JsonObject): JsonObject;
  /** Columns of the view; absent: those of the parent. */
  readonly table?: ColumnSet;
  /** Fields of the parent that a write of the view cannot change, so that such a write never owns them. */
  readonly resetFields?: readonly (readonly string[])[];
  validate?(object: T, old: T, isOn?: Gates): FieldError[];
  /** Texts for Warning headers of a write: those of the whole parent, or of this view; absent: none. */
  readonly warnings?: 'parent' | ((object: T, old: T, isOn?: Gates) => string[]);
}

/** The object that a change of the view starts from. */
export const readForChange = (view: ViewSubresource, parent: ApiObject): ApiObject =>
  (view.readForChange ?? view.read)(parent);

/** Lets an action access the cluster. The verbs implement it, so that actions pass validation and conflicts like any write. */
export interface ActionContext<Parent extends ApiObject = ApiObject> {
  /** Reads, changes and stores the parent, again on a conflict. `change` gets a copy it may change. @throws StatusError */
  update(change: (object: Parent) => Parent): Promise<Parent>;
  /** Deletes the parent with DeleteOptions. @throws StatusError */
  remove(options: JsonObject): Promise<ApiObject>;
  /** @throws StatusError NotFound */
  get<T extends ApiObject>(resource: ResourceOf<T>, namespace: string, name: string): Promise<T>;
  find<T extends ApiObject>(resource: ResourceOf<T>, namespace: string, name: string): Promise<T | undefined>;
  list<T extends ApiObject>(resource: ResourceOf<T>, namespace: string): Promise<T[]>;
  /** Like update, for any object. @throws StatusError */
  modify<T extends ApiObject>(
    resource: ResourceOf<T>,
    namespace: string,
    name: string,
    change: (object: T) => T,
  ): Promise<T>;
  /** Adds a Warning header to the response. */
  warn(text: string): void;
  /** Adds an annotation to the audit event of the request. */
  annotate(key: string, value: string): void;
  /** Makes tokens of service accounts. */
  readonly tokens: TokenIssuing;
  readonly isOn: Gates;
  readonly dryRun: boolean;
  readonly namespace: string;
  readonly name: string;
}

export interface ActionSubresource<Body extends ApiObject = ApiObject, Parent extends ApiObject = ApiObject>
  extends SubresourceBase {
  readonly access: 'action';
  /** Other versions in which bodies may be, with the same fields: `policy/v1beta1`. */
  readonly alsoFrom?: readonly string[];
  /** Whether a body may set fields of its metadata that belong to the server, such as the uid. */
  readonly keepsSystemMetadata?: (isOn: Gates) => boolean;
  /** Returns the object for the answer (often a Status), with its code. @throws StatusError */
  create(
    body: Body,
    context: ActionContext<Parent>,
  ): Promise<{ readonly code: number; readonly object: JsonObject }>;
}

export interface ConnectSubresource<Options extends JsonObject = JsonObject> extends SubresourceBase {
  readonly access: 'connect';
  /** HTTP methods; a proxy accepts more of them than there are verbs. */
  readonly methods: readonly string[];
  /** IDL name of the query's options. */
  readonly options: string;
  /** `log`: forwards the answer's body. `stream`: only upgrades. `proxy`: everything, rewritten to its path. */
  readonly manner: 'log' | 'stream' | 'proxy';
  /** Websockets that agents accept over SPDY only: the channels of a command, or SPDY itself. */
  readonly websocket?: 'channels' | 'tunnel';
  /** Undefined: there is no server yet. @throws StatusError */
  locate(call: ConnectCall<Options>): Promise<Backend | undefined>;
}

export interface ConnectCall<Options extends JsonObject = JsonObject> {
  readonly namespace: string;
  readonly name: string;
  /** The query, as the type of `options`. */
  readonly options: Options;
  /** The path after the subresource, with a leading slash, and a trailing one if the client wrote it. */
  readonly subpath: string;
  /** The feature PodLogsQuerySplitStreams. */
  readonly splitsLogs: boolean;
  /** --agent-preferred-address-types */
  readonly agentAddressTypes: readonly string[];
  /** @throws StatusError NotFound */
  get<T extends ApiObject>(resource: ResourceOf<T>, namespace: string, name: string): Promise<T>;
  find<T extends ApiObject>(resource: ResourceOf<T>, namespace: string, name: string): Promise<T | undefined>;
  /** Addresses of a host. @throws Error when it has none */
  resolve(host: string): Promise<readonly string[]>;
  /** Whether proxies resolve the names of node agents, rather than this server. */
  readonly resolvesAfar: boolean;
}
