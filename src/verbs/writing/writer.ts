import type { AdmissionChain, AdmissionOperation } from '../../admission/admission.ts';
import type { Gates } from '../../api/feature-gates.ts';
import type { TypeLibrary } from '../../api/idl/types.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import { notFound } from '../../api/status.ts';
import { copyStored, parseStored } from '../../codec/stored-object.ts';
import type { AssignedValues } from '../../registry/assigned-values.ts';
import { storeOf } from '../../registry/custom.ts';
import type { GatedFields } from '../../registry/gated-fields.ts';
import { NewerFields, putBack } from '../../registry/newer-fields.ts';
import { toResourceVersion } from '../../storage/revision.ts';
import type { Store } from '../../storage/store.ts';
import { endTurn, inOwnTurn, isLarge, runSteps } from '../../util/turns.ts';
import { inStatuses } from '../storage-status.ts';
import { toAttributes, toDeleteAttributes } from './admission-attributes.ts';
import { allocateAndFinish, type ValueAllocator } from './allocation.ts';
import {
  applyChange,
  type Change,
  checkVersion,
  type Read,
  refuseExpectations,
  resourceOfMissing,
  rulesOf,
  type UpdateRules,
} from './change.ts';
import { Commits } from './commits.ts';
import { checkPreconditions, type DeleteOptions, planDeletion } from './deletion.ts';
import { refuseObjectAtEnd } from './ending-definition.ts';
import type { Ownership } from './field-ownership.ts';
import {
  giveName,
  initializeMetadata,
  keepEachOwnerOnce,
  keepSystemMetadata,
  placeInNamespace,
} from './object-metadata.ts';
import { Preparation, tracksGeneration } from './prepare-write.ts';
import { Retries, tryNames } from './retries.ts';
import type { SharedExpiry } from './shared-expiry.ts';
import { isLargeCall, orNotFound, type Removed, type WriteCall, type Written } from './write-call.ts';

interface WriterOptions {
  readonly store: Store;
  readonly admission: AdmissionChain;
  readonly types: TypeLibrary;
  readonly ownership: Ownership;
  readonly allocator: ValueAllocator;
  readonly now: () => Date;
  /** For objects with a limited life. */
  readonly expiry: SharedExpiry;
  /** --enable-garbage-collector */
  readonly collectsGarbage: boolean;
  readonly gatedFields: GatedFields;
  /** Absent: the defaults. */
  readonly isFeatureOn?: Gates;
  /** Whether to generate another name when one is taken; true by default. */
  readonly retriesNames?: boolean;
}

/** An object to store, and the stored one: undefined for a create. */
interface States {
  readonly object: ApiObject;
  readonly old: ApiObject | undefined;
}

const operationOf = (old: ApiObject | undefined): AdmissionOperation =>
  old === undefined ? 'CREATE' : 'UPDATE';

/**
 * The engine behind every write in the server, of clients and of controllers. Each write goes through the same steps, in the
 * order of Kubernetes' generic registry:
 *
 * 1. default: plugins and owners see the object complete. Of equal owner references one is kept; those that a patch or plugins
 *    add are looked for after plugins.
 * 2. own: the author's fields determine who manages them, not what plugins add.
 * 3. admit (mutate): plugins may change everything, and their additions are prepared and validated like the rest.
 * 4. allocate: values that are unique in the cluster. After plugins, which may request certain ones; before validation, which
 *    sees them. From here on the steps are repeated when another server was faster with a value.
 * 5. prepare: fields that neither author nor plugins may set are reset.
 * 6. validate: the result of the first five steps. No later step changes the object.
 * 7. admit (validate): plugins and policies see what will be stored, and only valid objects. Quotas are charged here,
 *    as late as possible, because a refusal after that would have to be given back.
 * 8. commit: detects whether the stored object has changed since; if so, all steps are repeated (retries.ts).
 *
 * The rules of an update depend on its kind: change.ts. Fields of the stored object that the emulated version lacks are apart
 * from all steps but the last: newer-fields.ts.
 */
export class ObjectWriter {
  readonly #options: WriterOptions;
  readonly #preparation: Preparation;
  readonly #commits: Commits;
  readonly #newerFields: NewerFields;
  readonly #retries = new Retries();

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#preparation = new Preparation(options);
    this.#commits = new Commits(options);
    this.#newerFields = new NewerFields(options.types);
  }

  /** Tracks who manages which field. */
  get ownership(): Ownership {
    return this.#options.ownership;
  }

  /** @throws StatusError */
  async create(call: WriteCall, object: ApiObject): Promise<Written> {
    if (isLargeCall(call)) await endTurn();
    const creation = tryNames(object, (copy) => this.#createOnce(call, copy), this.#options.retriesNames);
    // Plugins and allocation read through the store too.
    return inStatuses(creation, call.definition, object.metadata.name ?? '');
  }

  /** @throws StatusError */
  update(call: WriteCall, name: string, change: Change): Promise<Written> {
    return this.#retries.tryStates(storeOf(call.definition, this.#options.store), call, name, (read) =>
      read === undefined ? this.#createInstead(call, name, change) : this.#updateOnce(call, read, change),
    );
  }

  /** @throws StatusError */
  remove(call: WriteCall, name: string, options: DeleteOptions): Promise<Removed> {
    return this.#retries.tryStates(storeOf(call.definition, this.#options.store), call, name, (read) => {
      if (read === undefined) throw notFound(call.definition, name);
      return this.#removeOnce(call, read, options);
    });
  }

  /** Removes an unreadable object without its rules, finalizers and plugins, which would have to read it. @throws StatusError */
  removeUnreadable(call: WriteCall, name: string): Promise<Removed> {
    return inStatuses(this.#commits.removeUnreadable(call, name), call.definition, name);
  }

  async #createOnce(call: WriteCall, object: ApiObject): Promise<Written> {
    const { strategy } = call.definition;
    const { isFeatureOn } = this.#options;
    refuseObjectAtEnd(call.definition, object.metadata.name ?? '', isFeatureOn?.minor);
    const states = { object, old: undefined };
    const large = isLargeCall(call);
    this.#default(call, strategy, object);
    await inOwnTurn(large, () => this.#own(call, states, large));
    await inOwnTurn(large, () => this.#mutate(call, states));
    this.#keepEachOwnerOnce(call, object, AFTER_PLUGINS);
    giveName(object.metadata);
    initializeMetadata(object, tracksGeneration(strategy, isFeatureOn), this.#options.now());
    return this.#allocate(call, strategy.assigned, states, async (complete) => {
      await inOwnTurn(large, () => this.#preparation.forCreate(call, complete));
      await inOwnTurn(large, () => this.#admit(call, strategy, { object: complete, old: undefined }));
      return inOwnTurn(large, () => this.#commits.create(call, complete));
    });
  }

  async #createInstead(call: WriteCall, name: string, change: Change): Promise<Written> {
    if (change.kind !== 'object' || change.create === undefined)
      throw notFound(resourceOfMissing(call.definition, call.subresource), name);
    const object = await change.create();
    refuseExpectations(call.definition, name, object);
    object.metadata.name ??= name;
    return this.create(call, object);
  }

  async #updateOnce(call: WriteCall, read: Read, change: Change): Promise<Written> {
    const { definition } = call;
    const { entry } = read;
    const rules = rulesOf(change, definition.strategy);
    const large = isLargeCall(call) || isLarge(entry.json.length);
    const version = toResourceVersion(entry.revision);
    const old = await inOwnTurn(large, () => parseStored(entry.json, version));
    const newer = this.#newerFields.takeOut(definition, old);
    const copy = change.leavesCopy === true ? old : await inOwnTurn(large, () => copyStored(old));
    const { object, sent } = await inOwnTurn(large, () =>
      applyChange(change, definition, copy, this.#options.isFeatureOn),
    );
    if (large) await endTurn();
    checkVersion(definition, object, entry, change.uidIs);
    const states = { object, old };
    this.#default(call, rules, object);
    await this.#own(call, states, large);
    await inOwnTurn(large, () => this.#mutate(call, states, sent));
    this.#keepEachOwnerOnce(call, object, AFTER_PLUGINS);
    keepSystemMetadata(object, old);
    return this.#allocate(call, rules.assigned, states, async (complete) => {
      await inOwnTurn(large, () => this.#preparation.beforeUpdate(call, rules, complete, old));
      await inOwnTurn(large, () => this.#preparation.refuseUpdate(call, rules, complete, old));
      await inOwnTurn(large, () => this.#admit(call, rules, { object: complete, old }));
      // Plugins and policies saw it; it is no part of what is stored.
      delete complete.metadata.resourceVersion;
      putBack(newer, complete);
      putBack(newer, old);
      return inOwnTurn(large, () => this.#commitUpdate(call, read, { object: complete, old }));
    });
  }

  async #commitUpdate(
    call: WriteCall,
    read: Read,
    states: { object: ApiObject; old: ApiObject },
  ): Promise<Written> {
    const written = await this.#commits.update(call, read, states);
    if (written.gone && !call.dryRun) await this.#removeAlong(call, states.object);
    return written;
  }

  async #removeOnce(call: WriteCall, read: Read, options: DeleteOptions): Promise<Removed> {
    const { definition } = call;
    const { now, collectsGarbage } = this.#options;
    const { json, revision } = read.entry;
    const version = toResourceVersion(revision);
    const old = parseStored(json, version);
    checkPreconditions(definition, old, version, options);
    await this.#admitRemoval(call, old, options);
    // The plan may change the old object, which becomes the last state; no later step compares with it.
    const plan = planDeletion(definition, old, options, { now: now(), collects: collectsGarbage });
    const removed = await this.#commits.remove(call, read, { plan, old, dryRun: options.dryRun });
    if (removed.gone && !options.dryRun) await this.#removeAlong(call, old);
    return removed;
  }

  /**
   * Removes companions of an object, without calling plugins or waiting for the client. A failure leaves one behind, but the
   * object is gone.
   */
  async #removeAlong(
    { caller: _, ...call }: WriteCall,
    { metadata: { name = '' } }: ApiObject,
  ): Promise<void> {
    for (const definition of call.definition.removedAlong ?? []) {
      const along: WriteCall = { ...call, definition, subresource: '', isAdmitted: true };
      try {
        await orNotFound(this.remove(along, name, REMOVE_ALONG));
      } catch {
        call.request?.warn(`${definition.resource} ${name} could not be deleted`);
      }
    }
  }

  #default(call: WriteCall, rules: UpdateRules, object: ApiObject): void {
    placeInNamespace(object.metadata, call.definition, call.namespace);
    if (call.request?.verb !== 'patch') this.#keepEachOwnerOnce(call, object, '');
    rules.defaults?.(object, this.#options.isFeatureOn);
  }

  #keepEachOwnerOnce({ request }: WriteCall, { metadata }: ApiObject, when: string): void {
    const warning = keepEachOwnerOnce(metadata, when);
    if (warning !== undefined) request?.warn(warning);
  }

  #own(call: WriteCall, { object, old }: States, large: boolean): Promise<void> | undefined {
    if (call.ownership === 'leave') return undefined;
    const done = runSteps(large, this.#options.ownership.track(call, object, old));
    return done instanceof Promise ? done : undefined;
  }

  #mutate(call: WriteCall, { object, old }: States, sent?: ApiObject): Promise<void> | undefined {
    if (call.isAdmitted === true) return undefined;
    const attributes = toAttributes(call, operationOf(old), object, old);
    return this.#options.admission.mutate(sent === undefined ? attributes : { ...attributes, sent });
  }

  async #admit(call: WriteCall, rules: UpdateRules, { object, old }: States): Promise<void> {
    const { request } = call;
    if (request !== undefined)
      for (const text of rules.warnings?.(object, old, this.#options.isFeatureOn) ?? []) request.warn(text);
    if (call.isAdmitted === true) return;
    await this.#options.admission.validate(toAttributes(call, operationOf(old), object, old));
  }

  async #admitRemoval(call: WriteCall, old: ApiObject, options: DeleteOptions): Promise<void> {
    if (call.isAdmitted === true) return;
    const { admission } = this.#options;
    const attributes = toDeleteAttributes(call, old, options);
    await admission.mutate(attributes);
    await admission.validate(attributes);
  }

  /** `values`: how the resource allocates values; undefined where it has none, or the write does not concern them. */
  #allocate(
    { dryRun }: WriteCall,
    values: AssignedValues | undefined,
    { object, old }: States,
    finish: (complete: ApiObject) => Promise<Written>,
  ): Promise<Written> {
    if (values === undefined) return finish(object);
    const { allocator } = this.#options;
    return allocateAndFinish({ values, allocator, dryRun, old }, object, finish);
  }
}

const AFTER_PLUGINS = ' after mutating admission happens';

const REMOVE_ALONG: DeleteOptions = {
  gracePeriodSeconds: undefined,
  propagationPolicy: undefined,
  orphanDependents: undefined,
  preconditions: {},
  dryRun: false,
};
