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
 * Everything the server knows of one resource type in one API group. Built-in resources are written as these literals
 * (resources/<group>/<resource>.ts); custom resources are made into them from their definitions.
 */
export interface ResourceDefinition extends GroupResource, ResourceTraits, ColumnSet {
  readonly singular: string;
  readonly kind: string;
  /** '' for what cannot be listed (virtual types). */
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly DefinedVerb[];
  /** In order of preference. */
  readonly versions: readonly ServedVersion[];
  /**
   * Where the objects are kept: another definition's identity when two groups share one storage (events). `version` is the
   * served version whose form is stored, `type` its IDL name.
   */
  readonly storage: GroupResource & {
    readonly version: string;
    readonly type: string;
  };
  readonly subresources: readonly Subresource[];
  /** From the stored form. */
  cells(object: ApiObject, now: number): readonly Cell[];
  readonly fields: SelectableFields;
  readonly strategy: Strategy;
  /** Of a version of a custom resource. */
  readonly custom?: CustomVersion;
}

/** Traits of a few resources, with objects of type `T`, that concern more than the verbs. */
export interface ResourceTraits<T extends ApiObject = ApiObject> {
  /** Resources whose object of the same name goes along when one of these is gone. */
  readonly removedAlong?: readonly ResourceDefinition[];
  /** For what is only posted: the action, on the object the body names, that a create of this is. */
  readonly actsOn?: { readonly resource: GroupResource; readonly subresource: string };
  /** The objects are pods, or pods are made from them. */
  readonly podTemplate?: PodTemplateReader<T>;
  /** The objects are questions about users and their rights: a create is answered, and nothing is stored. */
  readonly isReview?: boolean;
  /** Admission that does not judge these objects, because they configure it, or because a question must be answered. */
  readonly exemptFrom?: readonly ('webhooks' | 'policies')[];
  /** The name by which quotas counted the objects before there was `count/…`. Both names are counted. */
  readonly quotaName?: string;
  /** Query parameters of its own that a get or a list takes, by their names. */
  readonly parameters?: Partial<Record<'get' | 'list', Readonly<Record<string, 'string' | 'integer'>>>>;
  /** New objects get this finalizer. A controller of volumes removes it once nothing uses the object. */
  readonly protection?: string;
}

/** Where the objects of a resource, which are of type `T`, have their pod. */
export interface PodTemplateReader<T extends ApiObject = ApiObject> {
  /** Of the pod's spec, for messages. */
  readonly path: string;
  read(object: T): { readonly metadata?: ObjectMeta; readonly spec?: PodSpec } | undefined;
}

export type DefinedVerb = Exclude<ResourceVerb, 'connect'>;

export interface ServedVersion {
  readonly version: string;
  /** IDL name of the type, for example `apps/v1.Deployment`; CUSTOM_TYPE where `custom` stands for it. */
  readonly type: string;
  /** Served without being asked for by --runtime-config. */
  readonly enabledByDefault: boolean;
  /** The feature without which the version is not served, whatever --runtime-config says. */
  readonly gate?: string;
  /** Between this version's form and the stored one; undefined where both are the same but for apiVersion. */
  readonly conversion?: Conversion;
}

export interface Conversion {
  toStorage(object: ApiObject): ApiObject;
  fromStorage(object: ApiObject): ApiObject;
}

/** A cell is what kubectl prints; null prints as nothing. */
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

/** How objects are shown as rows. */
export interface ColumnSet {
  readonly columns: readonly Column[];
  /** One cell a column. `now` is in epoch milliseconds. */
  cells(object: ApiObject, now: number): readonly Cell[];
}

export interface SelectableFields {
  /**
   * Values for field selectors, from the stored form, by canonical label. `metadata.name` and `metadata.namespace` are
   * added by the server and need not be given.
   */
  readonly names: readonly string[];
  read(object: JsonObject): Record<string, string>;
  /** Labels that are accepted and mean another, for example `spec.host` → `spec.nodeName`. */
  readonly aliases: Readonly<Record<string, string>>;
  /** By which objects are looked up so often that looking at all of them would be too slow. */
  readonly indexed?: readonly string[];
}

/**
 * A part of an object, or an action on it, under its own path. `view` subresources read and write the parent object;
 * `action` ones accept a body of their own kind; `connect` ones hand the request on to another server.
 */
export type Subresource = ViewSubresource | ActionSubresource | ConnectSubresource;

interface SubresourceBase {
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
  /** What a patch or an applied configuration changes, where that is not the answer to GET. */
  readForChange?(parent: T): View;
  /**
   * The parent after a write of `view`. Takes only what this subresource may change from `view`; the result goes through
   * `validate` and is stored. `old` must not be changed.
   */
  write(view: View, old: T): T;
  /** Turns an applied configuration of the view's kind into one of the parent; absent where both are one kind. */
  toParent?(config: JsonObject): JsonObject;
  /** Columns of what the view shows; absent where they are those of the parent. */
  readonly table?: ColumnSet;
  /** Fields of the parent that a write of the view cannot change, so that such a write never owns them. */
  readonly resetFields?: readonly (readonly string[])[];
  validate?(object: T, old: T, isOn?: Gates): FieldError[];
}

/** What a change of the view begins with. */
export const readForChange = (view: ViewSubresource, parent: ApiObject): ApiObject =>
  (view.readForChange ?? view.read)(parent);

/** Access of an action to the cluster. Implemented by the verbs, so that actions pass validation and conflicts like any write. */
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
  /** Makes tokens of service accounts. */
  readonly tokens: TokenIssuing;
  readonly dryRun: boolean;
  readonly namespace: string;
  readonly name: string;
}

export interface ActionSubresource<Body extends ApiObject = ApiObject, Parent extends ApiObject = ApiObject>
  extends SubresourceBase {
  readonly access: 'action';
  /** Answers the object to return (often a Status), with its code. @throws StatusError */
  create(
    body: Body,
    context: ActionContext<Parent>,
  ): Promise<{ readonly code: number; readonly object: JsonObject }>;
}

export interface ConnectSubresource<Options extends JsonObject = JsonObject> extends SubresourceBase {
  readonly access: 'connect';
  /** HTTP methods; a proxy takes more of them than there are verbs. */
  readonly methods: readonly string[];
  /** IDL name of what the query says. */
  readonly options: string;
  /** `log`: the answer's body is passed on. `stream`: only upgrades. `proxy`: everything, rewritten to stand under its path. */
  readonly manner: 'log' | 'stream' | 'proxy';
  /** The load of websockets that agents take over SPDY only: the channels of a command, or SPDY itself. */
  readonly websocket?: 'channels' | 'tunnel';
  /** Undefined: there is no server to ask yet. @throws StatusError */
  locate(call: ConnectCall<Options>): Promise<Backend | undefined>;
}

export interface ConnectCall<Options extends JsonObject = JsonObject> {
  readonly namespace: string;
  readonly name: string;
  /** The query, by the type of `options`. */
  readonly options: Options;
  /** The path behind the subresource, with a slash before it and one behind where the client wrote one. */
  readonly subpath: string;
  /** --agent-preferred-address-types */
  readonly agentAddressTypes: readonly string[];
  /** @throws StatusError NotFound */
  get<T extends ApiObject>(resource: ResourceOf<T>, namespace: string, name: string): Promise<T>;
  find<T extends ApiObject>(resource: ResourceOf<T>, namespace: string, name: string): Promise<T | undefined>;
  /** Addresses of a host. @throws Error when it has none */
  resolve(host: string): Promise<readonly string[]>;
  /** Whether the names of node agents are resolved at the end of the way to them, and not here. */
  readonly resolvesAfar: boolean;
}
