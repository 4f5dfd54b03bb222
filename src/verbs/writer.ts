import type { AdmissionAttributes, AdmissionChain, AdmissionOperation } from '../admission/admission.ts';
import type { TypeLibrary } from '../api/idl/types.ts';
import type { ApiObject } from '../api/object-meta.ts';
import { conflict, type FieldError, invalid, MODIFIED, notFound, StatusError } from '../api/status.ts';
import { parseStored, toStoredJson } from '../codec/stored-object.ts';
import { equalExcept } from '../object/equality.ts';
import { sameOwners } from '../object/managed-fields/managers.ts';
import type { ResourceDefinition } from '../registry/definition.ts';
import { validateObjectMetaUpdate } from '../registry/validate-metadata.ts';

import { StorageError } from '../storage/errors.ts';
import type { ObjectKey } from '../storage/key.ts';
import { type Revision, toResourceVersion } from '../storage/revision.ts';
import type { WriteVerb } from '../storage/revision-log.ts';
import type { Entry, Freshness, Store } from '../storage/store.ts';
import { checkPreconditions, type DeleteOptions, endsWithUpdate, planDeletion } from './deletion.ts';
import { generateName, initializeMetadata, keepSystemMetadata, placeInNamespace } from './object-metadata.ts';
import type { Ownership } from './ownership.ts';
import { toStatusError } from './storage-status.ts';
import { validateObject } from './validate-object.ts';
import type { Change, Removed, WriteContext, Written } from './writing.ts';

const LATEST: Freshness = { kind: 'latest' };
/** With 27^5 suffixes a collision is rare; eight attempts make it unheard of (Kubernetes: RetryGenerateName). */
const NAME_ATTEMPTS = 8;
/** An update without a resourceVersion is repeated on conflict; under a storm of writers it gives up rather than spin. */
const UPDATE_ATTEMPTS = 30;

/**
 * Turns wishes into revisions: the order of defaults, admission, strategy, validation and commit, for every writer in the
 * server, requests and controllers alike.
 */
export class ObjectWriter {
  readonly #store: Store;
  readonly #admission: AdmissionChain;
  readonly #types: TypeLibrary;
  readonly #ownership: Ownership;
  readonly #now: () => Date;
  readonly #eventTtlMs: number;

  constructor(options: {
    store: Store;
    admission: AdmissionChain;
    types: TypeLibrary;
    ownership: Ownership;
    now: () => Date;
    eventTtlMs: number;
  }) {
    this.#store = options.store;
    this.#admission = options.admission;
    this.#types = options.types;
    this.#ownership = options.ownership;
    this.#now = options.now;
    this.#eventTtlMs = options.eventTtlMs;
  }

  /** @throws StatusError */
  async create(context: WriteContext, object: ApiObject): Promise<Written> {
    const { metadata } = object;
    const generated = (metadata.name ?? '') === '' && (metadata.generateName ?? '') !== '';
    for (let attempt = 1; ; attempt += 1) {
      const copy = generated ? structuredClone(object) : object;
      if (generated) copy.metadata.name = generateName(metadata.generateName ?? '');
      try {
        return await this.#createOnce(context, copy);
      } catch (error) {
        const taken = error instanceof StatusError && error.status.reason === 'AlreadyExists';
        if (!generated || !taken || attempt >= NAME_ATTEMPTS) throw error;
      }
    }
  }

  /** @throws StatusError */
  async update(context: WriteContext, name: string, change: Change): Promise<Written> {
    const key = toKey(context, name);
    let freshness: Freshness = { kind: 'any' };
    for (let attempt = 1; ; attempt += 1) {
      const entry = await this.#read(key, freshness);
      const fresh: boolean = entry === undefined || freshness.kind !== 'any';
      try {
        if (entry === undefined) return await this.#createInstead(context, name, change);
        return await this.#updateOnce(context, { entry, fresh }, change);
      } catch (error) {
        // Whoever would create and finds it created meanwhile updates it.
        const created =
          entry === undefined && error instanceof StatusError && error.status.reason === 'AlreadyExists';
        const retry: Freshness | undefined = created ? LATEST : retryFreshness(error, fresh);
        if (retry === undefined || attempt >= UPDATE_ATTEMPTS)
          throw toStatusError(error, context.definition, name);
        freshness = retry;
      }
    }
  }

  /** @throws StatusError */
  async remove(context: WriteContext, name: string, options: DeleteOptions): Promise<Removed> {
    const key = toKey(context, name);
    let freshness: Freshness = { kind: 'any' };
    for (let attempt = 1; ; attempt += 1) {
      const entry = await this.#read(key, freshness);
      if (entry === undefined) throw notFound(context.definition, name);
      const fresh: boolean = freshness.kind !== 'any';
      try {
        return await this.#removeOnce(context, { entry, fresh }, options);
      } catch (error) {
        const retry = retryFreshness(error, fresh);
        if (retry === undefined || attempt >= UPDATE_ATTEMPTS)
          throw toStatusError(error, context.definition, name);
        freshness = retry;
      }
    }
  }

  /** Optimistic: the cache is nearly always right, and the commit finds out when not. Only absence is asked for again. */
  async #read(key: ObjectKey, freshness: Freshness): Promise<Entry | undefined> {
    try {
      const entry = await this.#store.get(key, freshness);
      return (
        entry ?? (freshness.kind === 'latest' ? undefined : await this.#store.get(key, { kind: 'latest' }))
      );
    } catch (error) {
      throw toStatusError(error, key, key.name);
    }
  }

  async #createOnce(context: WriteContext, object: ApiObject): Promise<Written> {
    const { definition } = context;
    const { strategy } = definition;
    const { metadata } = object;
    placeInNamespace(metadata, definition, context.namespace);
    strategy.defaults?.(object);
    if (context.ownership === 'track') this.#ownership.track(context, object, undefined);
    await this.#admission.mutate(toAttributes(context, 'CREATE', object, undefined));
    initializeMetadata(object, strategy.tracksGeneration, this.#now());
    strategy.prepareForCreate?.(object, context.user);
    refuse(definition, object, [
      ...validateObject(definition, object, this.#types),
      ...(strategy.validateCreate?.(object) ?? []),
    ]);
    await this.#admission.validate(toAttributes(context, 'CREATE', object, undefined));
    for (const text of strategy.warnings?.(object, undefined) ?? []) context.warn(text);
    return this.#commitCreate(context, object);
  }

  async #commitCreate(context: WriteContext, object: ApiObject): Promise<Written> {
    const json = toStoredJson(object);
    const name = object.metadata.name ?? '';
    try {
      if (!context.dryRun) {
        return {
          json,
          revision: await this.#commit(context, 'create', object, json, undefined),
          created: true,
        };
      }
      const key = toKey(context, name);
      const entry = await this.#store.get(key, { kind: 'latest' });
      if (entry === undefined) return { json, revision: undefined, created: true };
      throw new StorageError({ kind: 'exists', key, current: entry.revision });
    } catch (error) {
      throw toStatusError(error, context.definition, name);
    }
  }

  async #createInstead(context: WriteContext, name: string, change: Change): Promise<Written> {
    if (change.create === undefined) throw notFound(context.definition, name);
    const object = await change.create();
    refuseExpectations(context.definition, name, object);
    object.metadata.name ??= name;
    return this.create(context, object);
  }

  async #updateOnce(context: WriteContext, read: Read, change: Change): Promise<Written> {
    const { definition } = context;
    const { entry } = read;
    const old = parseStored(entry.json, toResourceVersion(entry.revision));
    const object = await change.apply(parseStored(entry.json, toResourceVersion(entry.revision)));
    checkVersion(definition, object, entry);
    placeInNamespace(object.metadata, definition, context.namespace);
    if (change.validate === undefined) definition.strategy.defaults?.(object);
    if (context.ownership === 'track') this.#ownership.track(context, object, old);
    await this.#admission.mutate(toAttributes(context, 'UPDATE', object, old));
    this.#prepareUpdate(definition, object, old, change);
    await this.#admission.validate(toAttributes(context, 'UPDATE', object, old));
    for (const text of definition.strategy.warnings?.(object, old) ?? []) context.warn(text);
    return this.#commitUpdate(context, read, object, old);
  }

  #prepareUpdate(definition: ResourceDefinition, object: ApiObject, old: ApiObject, change: Change): void {
    const { strategy } = definition;
    keepSystemMetadata(object, old);
    if (change.validate === undefined) strategy.prepareForUpdate?.(object, old);
    if (strategy.tracksGeneration && !equalExcept(object, old, ['metadata', 'status'])) {
      object.metadata.generation = (old.metadata.generation ?? 0) + 1;
    }
    const errors = [
      ...validateObject(definition, object, this.#types),
      ...validateObjectMetaUpdate(object.metadata, old.metadata),
      ...(change.validate?.(object, old) ?? strategy.validateUpdate?.(object, old) ?? []),
    ];
    refuse(definition, object, errors);
  }

  async #commitUpdate(
    context: WriteContext,
    read: Read,
    object: ApiObject,
    old: ApiObject,
  ): Promise<Written> {
    const { entry } = read;
    const ends = endsWithUpdate(context.definition, object, old);
    if (!ends && isUnchanged(object, old))
      return { json: entry.json, revision: entry.revision, created: false };
    const json = toStoredJson(object);
    if (context.dryRun) return { json, revision: entry.revision, created: false };
    const verb = ends ? 'delete' : 'update';
    return {
      json,
      revision: await this.#commit(context, verb, object, json, entry.revision),
      created: false,
    };
  }

  async #removeOnce(context: WriteContext, read: Read, options: DeleteOptions): Promise<Removed> {
    const { definition } = context;
    const { entry } = read;
    const old = parseStored(entry.json, toResourceVersion(entry.revision));
    checkPreconditions(definition, old, toResourceVersion(entry.revision), options);
    await this.#admission.validate(toAttributes(context, 'DELETE', undefined, old));
    const plan = planDeletion(
      definition,
      parseStored(entry.json, toResourceVersion(entry.revision)),
      options,
      this.#now(),
    );
    if (plan.kind === 'pending') {
      assertFresh(read);
      return { json: entry.json, revision: entry.revision, gone: false };
    }
    const object = plan.kind === 'remove' ? plan.last : plan.object;
    const json = toStoredJson(object);
    const gone = plan.kind === 'remove';
    if (options.dryRun || (!gone && json.equals(entry.json))) {
      assertFresh(read);
      return { json, revision: entry.revision, gone };
    }
    const revision = await this.#commit(context, gone ? 'delete' : 'update', object, json, entry.revision);
    return { json, revision, gone };
  }

  #commit(
    context: WriteContext,
    verb: WriteVerb,
    object: ApiObject,
    json: Buffer,
    expected: Revision | undefined,
  ): Promise<Revision> {
    const { name = '', uid = '' } = object.metadata;
    const { expires } = context.definition.strategy;
    return this.#store.commit({
      verb,
      key: toKey(context, name),
      uid,
      expected,
      json,
      attribution: context.attribution,
      ...(expires === true ? { expiresAt: new Date(this.#now().getTime() + this.#eventTtlMs) } : {}),
    });
  }
}

function toKey({ definition, namespace }: WriteContext, name: string): ObjectKey {
  const { group, resource } = definition.storage;
  return { group, resource, namespace: definition.namespaced ? namespace : '', name };
}

function toAttributes(
  context: WriteContext,
  operation: AdmissionOperation,
  object: ApiObject | undefined,
  old: ApiObject | undefined,
): AdmissionAttributes {
  const { definition, version, subresource, dryRun, user } = context;
  return {
    operation,
    definition,
    version,
    subresource,
    namespace: definition.namespaced ? context.namespace : '',
    name: (object ?? old)?.metadata.name ?? '',
    object,
    old,
    dryRun,
    user,
    warn: (text) => context.warn(text),
  };
}

function refuse(definition: ResourceDefinition, object: ApiObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid(definition, object.metadata.name ?? '', errors);
}

/** In whatever order its fields come. That an owner wrote a field again, with the value it had, is no change either. */
function isUnchanged(object: ApiObject, old: ApiObject): boolean {
  return (
    equalExcept(object.metadata, old.metadata, ['managedFields', 'resourceVersion']) &&
    sameOwners(object.metadata.managedFields, old.metadata.managedFields) &&
    equalExcept(object, old, ['metadata'])
  );
}

/** A write that expects a certain object cannot create one. @throws StatusError 409 */
function refuseExpectations(definition: ResourceDefinition, name: string, { metadata }: ApiObject): void {
  const { uid = '', resourceVersion = '' } = metadata;
  if (uid !== '') {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw conflict(definition, name, why);
  }
  if (resourceVersion !== '' && resourceVersion !== '0') throw conflict(definition, name, MODIFIED);
}

/** What an attempt works on. `fresh`: read after the request began, so that what does not fit is the caller's mistake. */
interface Read {
  readonly entry: Entry;
  readonly fresh: boolean;
}

/** The cache may be behind, and nothing else would tell. */
class StaleRead extends Error {}

/** What is answered without a commit has nobody who would notice that the cache was behind. */
function assertFresh({ fresh }: Read): void {
  if (!fresh) throw new StaleRead();
}

/**
 * How fresh the next read must be. Undefined: another attempt would not help. A refusal counts only when it was made from
 * an object that was read after the request began.
 */
function retryFreshness(error: unknown, fresh: boolean): Freshness | undefined {
  if (error instanceof StaleRead || (error instanceof StatusError && !fresh)) return LATEST;
  if (!(error instanceof StorageError)) return undefined;
  if (error.failure.kind === 'conflict') return { kind: 'not-older', revision: error.failure.current };
  return error.failure.kind === 'not-found' ? LATEST : undefined;
}

/**
 * The preconditions inside an update: resourceVersion and uid, where the new object carries them.
 * @throws StatusError 409, or 422 when the resource insists on a resourceVersion and there is none
 */
function checkVersion(definition: ResourceDefinition, object: ApiObject, entry: Entry): void {
  const { name = '', uid, resourceVersion } = object.metadata;
  if (uid !== undefined && uid !== '' && uid !== entry.uid) {
    throw conflict(definition, name, uidMismatch(definition, entry, uid));
  }
  if (resourceVersion === undefined || resourceVersion === '' || resourceVersion === '0') {
    if (definition.strategy.allowUnconditionalUpdate) return;
    const message = 'Invalid value: 0x0: must be specified for an update';
    throw invalid({ kind: definition.resource, group: definition.group }, name, [
      { type: 'FieldValueInvalid', field: 'metadata.resourceVersion', message },
    ]);
  }
  if (resourceVersion === toResourceVersion(entry.revision)) return;
  throw conflict(definition, name, MODIFIED);
}

/** The text of Kubernetes' storage layer, which clients are known to search. */
function uidMismatch(
  { group, resource }: ResourceDefinition,
  { namespace, name, uid }: Entry,
  wanted: string,
): string {
  const path = [group, resource, namespace, name].filter((part) => part !== '').join('/');
  return (
    `StorageError: invalid object, Code: 4, Key: /registry/${path}, ResourceVersion: 0, AdditionalErrorMsg: ` +
    `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${uid}`
  );
}
