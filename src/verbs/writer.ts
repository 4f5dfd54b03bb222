import type { AdmissionAttributes, AdmissionChain, AdmissionOperation } from '../admission/admission.ts';
import type { TypeLibrary } from '../api/idl/types.ts';
import type { ApiObject } from '../api/object-meta.ts';
import { conflict, type FieldError, invalid, MODIFIED, notFound, StatusError } from '../api/status.ts';
import { parseStored, toStoredJson } from '../codec/stored-object.ts';
import { equal, equalExcept } from '../object/equality.ts';
import { differOnlyInTime } from '../object/managed-fields/managers.ts';
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
      try {
        if (entry === undefined) return await this.#createInstead(context, name, change);
        return await this.#updateOnce(context, { entry, fresh: freshness.kind !== 'any' }, change);
      } catch (error) {
        // Whoever would create and finds it created meanwhile updates it.
        const created =
          entry === undefined && error instanceof StatusError && error.status.reason === 'AlreadyExists';
        const retry = created ? LATEST : retryFreshness(error);
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
      try {
        return await this.#removeOnce(context, { entry, fresh: freshness.kind !== 'any' }, options);
      } catch (error) {
        const retry = retryFreshness(error);
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
    const copy = change.replaces === true ? old : parseStored(entry.json, toResourceVersion(entry.revision));
    const object = await change.apply(copy);
    checkVersion(definition, object, read);
    placeInNamespace(object.metadata, definition, context.namespace);
    if (change.validate === undefined) definition.strategy.defaults?.(object);
    if (context.ownership === 'track') this.#ownership.track(context, object, old);
    await this.#admission.mutate(toAttributes(context, 'UPDATE', object, old));
    this.#prepareUpdate(definition, object, old, change);
    await this.#admission.validate(toAttributes(context, 'UPDATE', object, old));
    for (const text of definition.strategy.warnings?.(object, old) ?? []) context.warn(text);
    return this.#commitUpdate(context, entry, object, old);
  }

  #prepareUpdate(definition: ResourceDefinition, object: ApiObject, old: ApiObject, change: Change): void {
    const { strategy } = definition;
    keepSystemMetadata(object, old);
    if (change.validate === undefined) strategy.prepareForUpdate?.(object, old);
    shareUnchanged(object, old);
    if (strategy.tracksGeneration && !equalExcept(object, old, ['metadata', 'status'])) {
      object.metadata.generation = (old.metadata.generation ?? 0) + 1;
    }
    const errors = [
      ...validateObject(definition, object, this.#types, old),
      ...validateObjectMetaUpdate(object.metadata, old.metadata),
      ...(change.validate?.(object, old) ?? strategy.validateUpdate?.(object, old) ?? []),
    ];
    refuse(definition, object, errors);
  }

  async #commitUpdate(
    context: WriteContext,
    entry: Entry,
    object: ApiObject,
    old: ApiObject,
  ): Promise<Written> {
    keepTimesOfNoChange(object, old);
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
    checkRemovable(definition, old, read, options);
    await this.#admission.validate(toAttributes(context, 'DELETE', undefined, old));
    // Nobody looks at the old state after this: it becomes the last one.
    const plan = planDeletion(definition, old, options, this.#now());
    if (plan.kind === 'pending') return { json: entry.json, revision: entry.revision, gone: false };
    const object = plan.kind === 'remove' ? plan.last : plan.object;
    const json = toStoredJson(object);
    const gone = plan.kind === 'remove';
    if (options.dryRun || (!gone && json.equals(entry.json))) return { json, revision: entry.revision, gone };
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

/** Parts that did not change become the old ones, so that whoever compares them later sees it at once. */
function shareUnchanged(object: ApiObject, old: ApiObject): void {
  for (const name of Object.keys(object)) {
    if (name !== 'metadata' && object[name] !== old[name] && equal(object[name], old[name]))
      Object.assign(object, { [name]: old[name] });
  }
}

/** Whatever the order of its fields: a default that was appended to a body makes no revision. */
function isUnchanged(object: ApiObject, old: ApiObject): boolean {
  return (
    equalExcept(object, old, ['metadata']) && equalExcept(object.metadata, old.metadata, ['resourceVersion'])
  );
}

function keepTimesOfNoChange(object: ApiObject, old: ApiObject): void {
  const { managedFields } = old.metadata;
  if (managedFields === undefined || !differOnlyInTime(object.metadata.managedFields, managedFields)) return;
  const same =
    equalExcept(object, old, ['metadata']) &&
    equalExcept(object.metadata, old.metadata, ['managedFields', 'resourceVersion']);
  if (same) object.metadata.managedFields = managedFields;
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

/** The caller's preconditions do not fit the cached object, but the cache may be behind: read again before saying so. */
class StaleRead extends Error {}

/** Undefined: another attempt would not help. Otherwise how fresh the next read must be. */
function retryFreshness(error: unknown): Freshness | undefined {
  if (error instanceof StaleRead) return { kind: 'latest' };
  if (!(error instanceof StorageError)) return undefined;
  if (error.failure.kind === 'conflict') return { kind: 'not-older', revision: error.failure.current };
  return error.failure.kind === 'not-found' ? { kind: 'latest' } : undefined;
}

/**
 * The preconditions inside an update: resourceVersion and uid, where the new object carries them.
 * @throws StatusError 409, or 422 when the resource insists on a resourceVersion and there is none
 */
function checkVersion(definition: ResourceDefinition, object: ApiObject, { entry, fresh }: Read): void {
  const { name = '', uid, resourceVersion } = object.metadata;
  if (uid !== undefined && uid !== '' && uid !== entry.uid) {
    if (!fresh) throw new StaleRead();
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
  if (!fresh) throw new StaleRead();
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

function checkRemovable(
  definition: ResourceDefinition,
  object: ApiObject,
  { entry, fresh }: Read,
  options: DeleteOptions,
): void {
  try {
    checkPreconditions(definition, object, toResourceVersion(entry.revision), options);
  } catch (error) {
    throw fresh ? error : new StaleRead();
  }
}
