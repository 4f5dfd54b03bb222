import type { AdmissionChain } from '../../admission/admission.ts';
import type { TypeLibrary } from '../../api/idl/types.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import { type FieldError, invalid, notFound, StatusError } from '../../api/status.ts';
import { copyStored, parseStored, toStoredJson } from '../../codec/stored-object.ts';
import { copyJson } from '../../object/copy.ts';
import { equalExcept } from '../../object/equality.ts';
import { nextGeneration } from '../../object/generation.ts';
import { boundedProblems } from '../../object/problem-bounds.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import type { GatedFields } from '../../registry/gated-fields.ts';
import { validateObjectMetaUpdate } from '../../registry/validate-metadata.ts';
import type { Caller } from '../../request/api-request.ts';
import { StorageError } from '../../storage/errors.ts';
import type { ObjectKey } from '../../storage/key.ts';
import { type Revision, toResourceVersion } from '../../storage/revision.ts';
import type { WriteVerb } from '../../storage/revision-log.ts';
import type { Entry, Freshness, Store } from '../../storage/store.ts';
import { toAttributes } from './admission-attributes.ts';
import type { ValueAllocator } from './allocator.ts';
import { assignAndFinish, holdsOf } from './assigning.ts';
import { breathe, isLarge, stepwise } from './breathe.ts';
import type { Change, Removed, WriteContext, Written } from './change.ts';
import { checkPreconditions, type DeleteOptions, endsWithUpdate, planDeletion } from './deletion.ts';
import { giveName, initializeMetadata, keepSystemMetadata, placeInNamespace } from './object-metadata.ts';
import { toDeleteOptionsObject } from './operation-options.ts';
import type { Ownership } from './ownership.ts';
import { assertFresh, checkVersion, type Read, refuseExpectations, retryFreshness } from './preconditions.ts';
import { toStatusError } from './storage-status.ts';
import { isUnchanged, shareUnchanged } from './unchanged.ts';
import { validateObject, validateUpdate } from './validate-object.ts';

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
  readonly #allocator: ValueAllocator;
  readonly #now: () => Date;
  readonly #eventTtlMs: number;
  readonly #collectsGarbage: boolean;
  readonly #gatedFields: GatedFields;

  constructor(options: {
    store: Store;
    admission: AdmissionChain;
    types: TypeLibrary;
    ownership: Ownership;
    allocator: ValueAllocator;
    now: () => Date;
    eventTtlMs: number;
    /** --enable-garbage-collector */
    collectsGarbage: boolean;
    gatedFields: GatedFields;
  }) {
    this.#store = options.store;
    this.#admission = options.admission;
    this.#types = options.types;
    this.#ownership = options.ownership;
    this.#allocator = options.allocator;
    this.#now = options.now;
    this.#eventTtlMs = options.eventTtlMs;
    this.#collectsGarbage = options.collectsGarbage;
    this.#gatedFields = options.gatedFields;
  }

  /** @throws StatusError */
  async create(context: WriteContext, object: ApiObject): Promise<Written> {
    const { metadata } = object;
    const generated = (metadata.name ?? '') === '' && (metadata.generateName ?? '') !== '';
    for (let attempt = 1; ; attempt += 1) {
      const copy = generated ? copyJson(object) : object;
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
      const entry = await this.#read(key, freshness, context.caller);
      const fresh: boolean = entry === undefined || freshness.kind !== 'any';
      try {
        if (entry === undefined) return await this.#createInstead(context, name, change);
        return await this.#updateOnce(context, { entry, fresh }, change);
      } catch (error) {
        // A create that loses the race becomes an update.
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
  remove(context: WriteContext, name: string, options: DeleteOptions): Promise<Removed> {
    return this.#removing(context, name, options);
  }

  async #removing(context: WriteContext, name: string, options: Removal): Promise<Removed> {
    const key = toKey(context, name);
    let freshness: Freshness = { kind: 'any' };
    for (let attempt = 1; ; attempt += 1) {
      const entry = await this.#read(key, freshness, context.caller);
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
  async #read(key: ObjectKey, freshness: Freshness, caller?: Caller): Promise<Entry | undefined> {
    try {
      const entry = await this.#store.get(key, freshness, caller);
      return entry ?? (freshness.kind === 'latest' ? undefined : await this.#store.get(key, LATEST, caller));
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
    await breathe(context.large);
    if (context.ownership === 'track')
      await stepwise(context.large, this.#ownership.track(context, object, undefined));
    await breathe(context.large);
    await this.#admission.mutate(toAttributes(context, 'CREATE', object, undefined));
    giveName(object.metadata);
    initializeMetadata(object, strategy.tracksGeneration, this.#now());
    return this.#withAssigned(context, object, undefined, (complete) =>
      this.#finishCreate(context, complete),
    );
  }

  /** Values that are the cluster's to give are part of the object from here on. */
  #withAssigned<Result>(
    { definition, dryRun }: WriteContext,
    object: ApiObject,
    old: ApiObject | undefined,
    finish: (complete: ApiObject) => Promise<Result>,
  ): Promise<Result> {
    const { assigned } = definition.strategy;
    if (assigned === undefined) return finish(object);
    return assignAndFinish({ assigned, allocator: this.#allocator, dryRun, old }, object, finish);
  }

  async #finishCreate(context: WriteContext, object: ApiObject): Promise<Written> {
    const { definition } = context;
    const { strategy } = definition;
    await breathe(context.large);
    this.#gatedFields.drop(definition, object);
    strategy.prepareForCreate?.(object, context.user);
    const errors = boundedProblems(() => [
      ...validateObject(definition, object, this.#types),
      ...(strategy.validateCreate?.(object) ?? []),
    ]);
    refuse(definition, object, errors);
    await breathe(context.large);
    await this.#admission.validate(toAttributes(context, 'CREATE', object, undefined));
    for (const text of strategy.warnings?.(object, undefined) ?? []) context.warn(text);
    await breathe(context.large);
    return this.#commitCreate(context, object);
  }

  async #commitCreate(context: WriteContext, object: ApiObject): Promise<Written> {
    const json = toStoredJson(object);
    const name = object.metadata.name ?? '';
    try {
      if (!context.dryRun) {
        const revision = await this.#commit(context, { verb: 'create', object, json });
        return { json, revision, created: true };
      }
      const key = toKey(context, name);
      const entry = await this.#store.get(key, LATEST, context.caller);
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
    const large = context.large === true || isLarge(entry.json.length);
    const old = parseStored(entry.json, toResourceVersion(entry.revision));
    await breathe(large);
    const copy = change.leavesCopy === true ? old : copyStored(old);
    await breathe(large);
    const object = await change.apply(copy);
    await breathe(large);
    checkVersion(definition, object, entry, change.uidIs);
    placeInNamespace(object.metadata, definition, context.namespace);
    if (change.validate === undefined) definition.strategy.defaults?.(object);
    if (context.ownership === 'track') await stepwise(large, this.#ownership.track(context, object, old));
    await breathe(large);
    if (context.admitted !== true) await this.#admission.mutate(toAttributes(context, 'UPDATE', object, old));
    keepSystemMetadata(object, old);
    const finish = async (complete: ApiObject): Promise<Written> => {
      await breathe(large);
      this.#prepareUpdate(definition, complete, old, change);
      await breathe(large);
      if (context.admitted !== true)
        await this.#admission.validate(toAttributes(context, 'UPDATE', complete, old));
      for (const text of definition.strategy.warnings?.(complete, old) ?? []) context.warn(text);
      await breathe(large);
      return this.#commitUpdate(context, read, complete, old);
    };
    return change.validate === undefined ? this.#withAssigned(context, object, old, finish) : finish(object);
  }

  #prepareUpdate(definition: ResourceDefinition, object: ApiObject, old: ApiObject, change: Change): void {
    const { strategy } = definition;
    this.#gatedFields.drop(definition, object, old);
    if (change.validate === undefined) strategy.prepareForUpdate?.(object, old);
    shareUnchanged(object, old);
    if (strategy.tracksGeneration && !equalExcept(object, old, ['metadata', 'status'])) {
      object.metadata.generation = nextGeneration(old.metadata);
    }
    const errors = boundedProblems(() => [
      ...validateObject(definition, object, this.#types, old),
      ...validateObjectMetaUpdate(object.metadata, old.metadata),
      ...(change.validate?.(object, old) ?? validateUpdate(definition, object, old, this.#types)),
    ]);
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
    const unchanged = !ends && isUnchanged(object, old);
    if (unchanged || context.dryRun) assertFresh(read);
    if (unchanged) return { json: entry.json, revision: entry.revision, created: false };
    const json = toStoredJson(object);
    if (context.dryRun) return { json, revision: entry.revision, created: false };
    const verb = ends ? 'delete' : 'update';
    const revision = await this.#commit(context, { verb, object, json, old, expected: entry.revision });
    if (ends) await this.#removeAlong(context, object);
    return { json, revision, created: false };
  }

  async #removeOnce(context: WriteContext, read: Read, options: Removal): Promise<Removed> {
    const { definition } = context;
    const { entry } = read;
    const old = parseStored(entry.json, toResourceVersion(entry.revision));
    checkPreconditions(definition, old, toResourceVersion(entry.revision), options);
    if (options.unasked !== true && context.admitted !== true)
      await this.#admitRemoval(context, old, options);
    // Nobody looks at the old state after this: it becomes the last one.
    const plan = planDeletion(definition, old, options, {
      now: this.#now(),
      collects: this.#collectsGarbage,
    });
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
    const verb = gone ? 'delete' : 'update';
    const revision = await this.#commit(context, { verb, object, json, old, expected: entry.revision });
    if (gone) await this.#removeAlong(context, object);
    return { json, revision, gone };
  }

  async #admitRemoval(context: WriteContext, old: ApiObject, options: DeleteOptions): Promise<void> {
    const attributes = {
      ...toAttributes(context, 'DELETE', undefined, old),
      options: () => toDeleteOptionsObject(options),
    };
    await this.#admission.mutate(attributes);
    await this.#admission.validate(attributes);
  }

  /** What must not outlive an object; nobody is asked. A failure leaves something behind, but the object is gone. */
  async #removeAlong(removal: WriteContext, { metadata: { name = '' } }: ApiObject): Promise<void> {
    const { caller: _, ...context } = removal;
    for (const definition of context.definition.removedAlong ?? []) {
      try {
        await this.#removing({ ...context, definition, subresource: '' }, name, REMOVE_ALONG);
      } catch (error) {
        if (error instanceof StatusError && error.status.reason === 'NotFound') continue;
        context.warn(`${definition.resource} ${name} could not be deleted`);
      }
    }
  }

  #commit(context: WriteContext, { verb, object, json, old, expected }: Commit): Promise<Revision> {
    const { name = '', uid = '' } = object.metadata;
    const { expires } = context.definition.strategy;
    const { caller } = context;
    const holds = holdsOf(context.definition, verb, object, old);
    return this.#store.commit({
      verb,
      key: toKey(context, name),
      uid,
      expected,
      json,
      attribution: context.attribution,
      ...(caller === undefined ? {} : { caller }),
      ...(holds === undefined ? {} : { holds }),
      ...(expires === true ? { expiresAt: new Date(this.#now().getTime() + this.#eventTtlMs) } : {}),
    });
  }
}

interface Commit {
  readonly verb: WriteVerb;
  readonly object: ApiObject;
  readonly json: Buffer;
  /** Absent for a create, as is `expected`. */
  readonly old?: ApiObject;
  readonly expected?: Revision;
}

interface Removal extends DeleteOptions {
  /** Goes with another object, so that admission has nothing to say. */
  readonly unasked?: true;
}

const REMOVE_ALONG: Removal = {
  gracePeriodSeconds: undefined,
  propagationPolicy: undefined,
  orphanDependents: undefined,
  preconditions: {},
  dryRun: false,
  unasked: true,
};

function toKey({ definition, namespace }: WriteContext, name: string): ObjectKey {
  const { group, resource } = definition.storage;
  return { group, resource, namespace: definition.namespaced ? namespace : '', name };
}

function refuse(definition: ResourceDefinition, object: ApiObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid(definition, object.metadata.name ?? '', errors);
}
