import { hash, randomUUID } from 'node:crypto';
import { canonicalApiVersion } from '../../api/dialect.ts';
import { type Minor, toVersion } from '../../api/emulation.ts';
import { loadTypes, type TypeLibrary } from '../../api/idl/types.ts';
import { type GroupResource, toApiVersion, toQualifiedResource } from '../../api/names.ts';
import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { MessageSchema } from '../../api/schema.ts';
import type { CustomResourceDefinition } from '../../api/types/apiextensions/v1.ts';
import { decodeObject } from '../../codec/decode.ts';
import { type Head, parseStored, toStoredText } from '../../codec/stored-object.ts';
import { VersionSchema } from '../../custom-resources/version-schema.ts';
import { isObject, textOf } from '../../object/json-values.ts';
import { toTimestamp } from '../../object/timestamps.ts';
import { apiFlags } from '../../options/api.ts';
import { toStorage } from '../../registry/conversion.ts';
import type { ResourceDefinition, ServedVersion } from '../../registry/resource-definition.ts';
import { builtInResources, EVERY_RESOURCE, resourcesBeside } from '../../resources/all.ts';
import type { ObjectKey } from '../../storage/key.ts';
import { errorText } from '../../util/error-text.ts';
import { DEFAULT_MINOR } from '../../version.ts';
import { describe } from './describe.ts';
import { fromOlderDefinition, isOlderDefinition, olderDefinitionSchema } from './older-definition.ts';

/** What an object is stored as. */
export interface Shape {
  readonly key: ObjectKey;
  readonly uid: string;
  readonly json: Buffer;
  /** Equal for equal bytes. */
  readonly digest: string;
  /** The object came without a uid: it was never in a cluster. */
  readonly isNew: boolean;
  readonly ownerUids: readonly string[];
  /** Why the object belongs to the cluster that it is in; undefined for any other. */
  readonly own: string | undefined;
}

interface ShapedParts {
  readonly definition: ResourceDefinition | undefined;
  readonly object?: ApiObject;
  readonly giveBack?: () => void;
}

/** An object as this server stores it. */
export class Shaped implements Shape {
  readonly key: ObjectKey;
  readonly uid: string;
  readonly json: Buffer;
  readonly digest: string;
  readonly isNew: boolean;
  readonly ownerUids: readonly string[];
  readonly own: string | undefined;
  /** Undefined for a custom resource. */
  readonly definition: ResourceDefinition | undefined;
  #object: ApiObject | undefined;
  readonly #giveBack: (() => void) | undefined;

  constructor(shape: Shape, of: ShapedParts) {
    this.key = shape.key;
    this.uid = shape.uid;
    this.json = shape.json;
    this.digest = shape.digest;
    this.isNew = shape.isNew;
    this.ownerUids = shape.ownerUids;
    this.own = shape.own;
    this.definition = of.definition;
    this.#object = of.object;
    this.#giveBack = of.giveBack;
  }

  /** The memory of the JSON may be used again: the object is in the log. */
  giveBack(): void {
    this.#giveBack?.();
  }

  /** Parsed when it is first asked for, where another thread has shaped it. */
  get object(): ApiObject {
    this.#object ??= parseStored(this.json);
    return this.#object;
  }
}

/** An object that cannot be taken. */
export class Refused {
  readonly name: string;
  readonly reason: string;

  constructor(name: string, reason: string) {
    this.name = name;
    this.reason = reason;
  }
}

/** An object as a source gives it. */
export type SourceObject = JsonObject | Shaped | Refused;

/** Why an object is not taken. */
export class NotTaken extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'NotTaken';
  }
}

interface BuiltIn {
  readonly definition: ResourceDefinition;
  readonly version: ServedVersion;
}

interface Custom extends GroupResource {
  readonly storedVersion: string;
  readonly namespaced: boolean;
  readonly converts: boolean;
  readonly schema: VersionSchema | undefined;
}

const DEFINITIONS: GroupResource = {
  group: 'apiextensions.k8s.io',
  resource: 'customresourcedefinitions',
};

interface ShapesOptions {
  /** What servers of the target emulate. */
  readonly minor?: Minor;
  /** Keeps the JSON of an object. */
  readonly toBytes?: (text: string) => Buffer;
}

/**
 * Shapes brings objects of other clusters into the form that servers of a version store: decoded by their type, in the stored
 * version, with defaults. Fields and resources that only later versions have are kept, as these servers keep them. Custom resources
 * are known once their definition has been read.
 */
export class Shapes {
  readonly minor: Minor;
  readonly #types: TypeLibrary;
  /** With the fields of all versions; loaded for the first object that has one of a later version. */
  #allTypes: TypeLibrary | undefined;
  #olderDefinition: MessageSchema | undefined;
  readonly #toBytes: (text: string) => Buffer;
  /** By the resource that is stored. */
  readonly #definitions = new Map<string, ResourceDefinition>();
  /** By apiVersion and kind. */
  readonly #builtIn = new Map<string, BuiltIn>();
  /** By group and kind. */
  readonly #custom = new Map<string, Custom>();
  /** The definitions that custom resources were learned from, as they are stored, by name. */
  readonly #learned = new Map<string, Buffer>();

  constructor({ minor = DEFAULT_MINOR, toBytes = Buffer.from }: ShapesOptions = {}) {
    this.minor = minor;
    this.#toBytes = toBytes;
    const stored = storedIn(minor);
    this.#types = loadTypes(
      minor,
      stored.flatMap(({ versions }) => versions.map(({ type }) => type)),
    );
    for (const definition of stored) {
      this.#definitions.set(toQualifiedResource(definition.storage), definition);
      for (const version of definition.versions) {
        const { group, kind } = definition;
        this.#builtIn.set(`${toApiVersion({ group, version: version.version })}/${kind}`, {
          definition,
          version,
        });
      }
    }
  }

  /** What another thread must {@link learn} before it shapes custom resources. */
  get learned(): readonly Buffer[] {
    return [...this.#learned.values()];
  }

  learn(definitions: readonly Uint8Array[]): void {
    for (const json of definitions.map((bytes) => Buffer.from(bytes))) this.#learn(parseStored(json), json);
  }

  /** Learns a custom resource from its definition. */
  #learn(definition: CustomResourceDefinition, json: Buffer): void {
    this.#learned.set(definition.metadata?.name ?? '', json);
    const { group = '', names, versions, scope, conversion, preserveUnknownFields } = definition.spec ?? {};
    const stored = versions?.find(({ storage }) => storage === true);
    const schema = stored?.schema?.openAPIV3Schema;
    this.#custom.set(`${group}/${names?.kind ?? ''}`, {
      group,
      resource: names?.plural ?? '',
      storedVersion: stored?.name ?? '',
      namespaced: scope === 'Namespaced',
      converts: conversion?.strategy === 'Webhook',
      schema:
        schema === undefined
          ? undefined
          : new VersionSchema(
              schema,
              { types: this.#types, ratchets: false },
              { keepsUnknown: preserveUnknownFields === true, scale: undefined },
            ),
    });
  }

  /** The version in which objects are best read; undefined for an unknown resource. */
  storedVersionOf({ group, resource }: GroupResource): string | undefined {
    for (const { definition } of this.#builtIn.values())
      if (definition.group === group && definition.resource === resource) return definition.storage.version;
    return [...this.#custom.values()].find((one) => one.group === group && one.resource === resource)
      ?.storedVersion;
  }

  /** Whether this server can keep objects of the resource. */
  keeps(resource: GroupResource): boolean {
    return this.storedVersionOf(resource) !== undefined;
  }

  /** Whether the resource is known by a definition. */
  isCustom({ group, resource }: GroupResource): boolean {
    return [...this.#custom.values()].some((one) => one.group === group && one.resource === resource);
  }

  /** The schema by which protobuf is read; undefined: there is no such built-in type. */
  schemaOf({ apiVersion, kind }: Head): MessageSchema | undefined {
    if (isOlderDefinition({ apiVersion, kind })) {
      this.#olderDefinition ??= olderDefinitionSchema(this.#everyField());
      return this.#olderDefinition;
    }
    const found = this.#builtIn.get(`${canonicalApiVersion(apiVersion)}/${kind}`);
    return found === undefined ? undefined : this.#everyField().message(found.version.type);
  }

  /** The resource of an object; undefined for an unknown type. */
  resourceOf(object: JsonObject): GroupResource | undefined {
    if (isOlderDefinition(object)) return DEFINITIONS;
    const apiVersion = canonicalApiVersion(textOf(object.apiVersion));
    const kind = textOf(object.kind);
    const builtIn = this.#builtIn.get(`${apiVersion}/${kind}`);
    if (builtIn !== undefined) return builtIn.definition.storage;
    return this.#custom.get(`${groupOf(apiVersion)}/${kind}`);
  }

  /** Shapes an object, unless that is done already. */
  take(given: SourceObject): Shaped | Refused {
    if (given instanceof Shaped || given instanceof Refused) return given;
    try {
      return this.shape(given);
    } catch (error) {
      if (!(error instanceof NotTaken)) throw error;
      return new Refused(nameOf(given), error.message);
    }
  }

  /** What another thread has made of an object, in memory that is used again once it was given back. */
  fromShape(shape: Shape, giveBack: () => void): Shaped {
    return new Shaped(shape, { definition: this.#definitions.get(toQualifiedResource(shape.key)), giveBack });
  }

  /** @throws NotTaken */
  shape(given: JsonObject): Shaped {
    if (isOlderDefinition(given)) return this.shape(fromOlderDefinition(given));
    const apiVersion = canonicalApiVersion(textOf(given.apiVersion));
    const kind = textOf(given.kind);
    const builtIn = this.#builtIn.get(`${apiVersion}/${kind}`);
    if (builtIn !== undefined) return this.#shapeBuiltIn(given, builtIn);
    const custom = this.#custom.get(`${groupOf(apiVersion)}/${kind}`);
    if (custom !== undefined) return this.#shapeCustom(given, custom, apiVersion);
    throw new NotTaken(this.#whyUnknown(apiVersion, kind));
  }

  #whyUnknown(apiVersion: string, kind: string): string {
    if (kind === '') return 'it has no kind';
    const isOther = EVERY_RESOURCE.some(
      (one) =>
        one.kind === kind &&
        one.versions.some(({ version }) => toApiVersion({ group: one.group, version }) === apiVersion),
    );
    if (isOther)
      return `servers of Kubernetes ${toVersion(this.minor)} store another form of ${apiVersion} ${kind}: give the ${apiFlags.emulatedVersion.shown} of your servers`;
    return `there is neither a built-in type ${apiVersion} ${kind} nor a definition of it`;
  }

  #shapeBuiltIn(given: JsonObject, { definition, version }: BuiltIn): Shaped {
    const { identified, isNew } = identify(given, definition);
    const decoded = decode(() => this.#decode(identified, version.type));
    const apiVersion = toApiVersion({ group: definition.group, version: version.version });
    const object = toObject(decoded, { kind: definition.kind, apiVersion });
    const stored = toStorage(object, { definition, version });
    definition.strategy.defaults?.(stored);
    const shaped = this.#toShaped(stored, definition.storage, { isNew, definition });
    if (definition.group === DEFINITIONS.group && definition.resource === DEFINITIONS.resource)
      this.#learn(stored as CustomResourceDefinition, shaped.json);
    return shaped;
  }

  /** Fields of later versions are unknown to the version of the target. @throws DecodeError */
  #decode(given: JsonObject, type: string): JsonObject {
    const { object, unknown } = decodeObject(given, this.#types.message(type));
    return unknown.length === 0 ? object : decodeObject(given, this.#everyField().message(type)).object;
  }

  #everyField(): TypeLibrary {
    this.#allTypes ??= loadTypes('all');
    return this.#allTypes;
  }

  #shapeCustom(given: JsonObject, custom: Custom, apiVersion: string): Shaped {
    const { group, storedVersion, schema, converts } = custom;
    const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
    if (version !== storedVersion && converts)
      throw new NotTaken(
        `it is in version ${version}, and a webhook would have to convert it to ${storedVersion}, which is stored`,
      );
    const { identified, isNew } = identify(given, custom);
    const head = { kind: textOf(given.kind), apiVersion: toApiVersion({ group, version: storedVersion }) };
    const decoded = decode(() =>
      schema === undefined ? identified : schema.decode({ ...identified, ...head }).object,
    );
    return this.#toShaped(toObject(decoded, head), custom, { isNew, definition: undefined });
  }

  #toShaped(
    object: ApiObject,
    { group, resource }: GroupResource,
    { isNew, definition }: Pick<Shaped, 'isNew' | 'definition'>,
  ): Shaped {
    const { namespace = '', name = '', uid = '', ownerReferences = [] } = object.metadata;
    if (!UUID.test(uid)) throw new NotTaken(`its uid ${JSON.stringify(uid)} is no UUID`);
    const key = { group, resource, namespace, name };
    const json = this.#toBytes(toStoredText(object));
    const shape = {
      ...{ key, uid, json, digest: digestOf(json), isNew },
      ownerUids: ownerReferences.map((owner) => owner.uid ?? ''),
      own: ownedByItsCluster(key, object),
    };
    return new Shaped(shape, { definition, object });
  }
}

/** What servers of this version store, of other versions too: each resource in one form, in all versions that have this form. */
function storedIn(minor: Minor): readonly ResourceDefinition[] {
  const own = builtInResources(minor).filter(isStored);
  const forms = new Set([...own, ...resourcesBeside(own)].map(({ storage }) => storage));
  return EVERY_RESOURCE.filter((definition) => isStored(definition) && forms.has(definition.storage));
}

/** Types whose objects are stored. */
const isStored = ({ verbs }: ResourceDefinition): boolean =>
  verbs.includes('create') && verbs.includes('list');

const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';

/** @throws NotTaken */
function decode(work: () => JsonObject): JsonObject {
  try {
    return work();
  } catch (error) {
    throw new NotTaken(`it has not the form of its type: ${errorText(error)}`);
  }
}

/** Checks the names, and completes what an object that was never in a cluster lacks. @throws NotTaken */
function identify(
  given: JsonObject,
  { namespaced }: { readonly namespaced: boolean },
): { readonly identified: JsonObject; readonly isNew: boolean } {
  const { resourceVersion: _, selfLink: __, ...kept } = isObject(given.metadata) ? given.metadata : {};
  if (textOf(kept.name) === '') throw new NotTaken('it has no name');
  if (!namespaced && textOf(kept.namespace) !== '')
    throw new NotTaken(`it names a namespace, and ${textOf(given.kind)} has none`);
  const isNew = textOf(kept.uid) === '';
  const metadata = {
    ...kept,
    ...(isNew ? { uid: randomUUID() } : {}),
    ...(kept.creationTimestamp ? {} : { creationTimestamp: toTimestamp(new Date()) }),
    ...(namespaced && textOf(kept.namespace) === '' ? { namespace: 'default' } : {}),
  };
  return { identified: { ...given, metadata }, isNew };
}

const toObject = ({ kind: _, apiVersion: __, metadata, ...rest }: JsonObject, head: Head): ApiObject => ({
  ...head,
  metadata: isObject(metadata) ? metadata : {},
  ...rest,
});

/** Equal for equal bytes. */
export const digestOf = (json: Buffer): string => hash('sha1', json, 'base64url');

/** The column of uids has this type. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Why an object belongs to the cluster that it is in; undefined for any other. */
export function ownedByItsCluster(key: ObjectKey, object: ApiObject): string | undefined {
  const { labels = {} } = object.metadata;
  const name = describe(key);
  if (OWN_OBJECTS.has(name)) return 'each cluster has its own';
  if (key.resource === 'configmaps' && key.name === 'kube-root-ca.crt') return 'each cluster has its own';
  if (labels['apiserver.kubernetes.io/identity'] !== undefined) return 'it is the lease of an API server';
  if (labels['kube-aggregator.kubernetes.io/automanaged'] !== undefined) return 'each server makes its own';
  if (key.resource === 'endpointslices' && key.namespace === 'default')
    return labels['kubernetes.io/service-name'] === 'kubernetes' ? 'each cluster has its own' : undefined;
  if (key.resource !== 'ipaddresses' || !isObject(object.spec)) return undefined;
  const { parentRef } = object.spec;
  const isOwn = isObject(parentRef) && parentRef.namespace === 'default' && parentRef.name === 'kubernetes';
  return isOwn ? 'each cluster has its own' : undefined;
}

const OWN_OBJECTS: ReadonlySet<string> = new Set([
  'services default/kubernetes',
  'endpoints default/kubernetes',
  'endpointslices.discovery.k8s.io default/kubernetes',
  'servicecidrs.networking.k8s.io kubernetes',
  'configmaps kube-system/extension-apiserver-authentication',
]);

function nameOf({ kind, metadata }: JsonObject): string {
  const { namespace, name } = (metadata ?? {}) as { readonly namespace?: string; readonly name?: string };
  return `${String(kind ?? 'object')} ${namespace === undefined ? '' : `${namespace}/`}${name ?? '(no name)'}`;
}
