import type { ApiObject } from '../../api/object-meta.ts';
import { toStoredJson } from '../../codec/stored-object.ts';
import { equalExcept } from '../../object/equality.ts';
import { sameOwners } from '../../object/managed-fields/managers.ts';
import { StorageError } from '../../storage/errors.ts';
import type { Revision } from '../../storage/revision.ts';
import type { WriteVerb } from '../../storage/revision-log.ts';
import type { Store } from '../../storage/store.ts';
import { allocatedBy } from './allocation.ts';
import { type Removed, toKey, type WriteCall, type Written } from './call.ts';
import { type Deletion, endsWithUpdate } from './deletion.ts';
import { assertFresh, type Read } from './preconditions.ts';
import { toStatusError } from './storage-status.ts';

/** The last step of a write: what is new becomes a revision. A dry run, and an update that changes nothing, commit nothing. */
export class Commits {
  readonly #store: Store;
  readonly #now: () => Date;
  readonly #eventTtlMs: number;

  constructor(options: { store: Store; now: () => Date; eventTtlMs: number }) {
    this.#store = options.store;
    this.#now = options.now;
    this.#eventTtlMs = options.eventTtlMs;
  }

  /** @throws StatusError, or StorageError `taken` */
  async create(call: WriteCall, object: ApiObject): Promise<Written> {
    const json = toStoredJson(object);
    const name = object.metadata.name ?? '';
    try {
      if (call.dryRun) {
        await this.#assertAbsent(call, name);
        return { json, revision: undefined, created: true };
      }
      const revision = await this.#commit(call, { verb: 'create', object, json });
      return { json, revision, created: true };
    } catch (error) {
      throw toStatusError(error, call.definition, name);
    }
  }

  async #assertAbsent(call: WriteCall, name: string): Promise<void> {
    const key = toKey(call, name);
    const entry = await this.#store.get(key, { kind: 'latest' }, call.caller);
    if (entry !== undefined) throw new StorageError({ kind: 'exists', key, current: entry.revision });
  }

  /** `gone`: the update left nothing that a deletion waits for, so that the object has ended. @throws StorageError */
  async update(
    call: WriteCall,
    read: Read,
    { object, old }: { object: ApiObject; old: ApiObject },
  ): Promise<Written & { readonly gone: boolean }> {
    const { json: oldJson, revision: expected } = read.entry;
    const gone = endsWithUpdate(call.definition, object, old);
    const unchanged = !gone && isUnchanged(object, old);
    if (unchanged || call.dryRun) assertFresh(read);
    if (unchanged) return { json: oldJson, revision: expected, created: false, gone };
    const json = toStoredJson(object);
    if (call.dryRun) return { json, revision: expected, created: false, gone };
    const verb = gone ? 'delete' : 'update';
    const revision = await this.#commit(call, { verb, object, json, old, expected });
    return { json, revision, created: false, gone };
  }

  /** What is planned, unless it is a dry run. @throws StorageError */
  async remove(
    call: WriteCall,
    read: Read,
    { plan, old, dryRun }: { plan: Deletion; old: ApiObject; dryRun: boolean },
  ): Promise<Removed> {
    const { json: oldJson, revision: expected } = read.entry;
    if (plan.kind === 'pending') {
      assertFresh(read);
      return { json: oldJson, revision: expected, gone: false };
    }
    const gone = plan.kind === 'remove';
    const { object } = plan;
    const json = toStoredJson(object);
    if (dryRun || (!gone && json.equals(oldJson))) {
      assertFresh(read);
      return { json, revision: expected, gone };
    }
    const verb = gone ? 'delete' : 'update';
    const revision = await this.#commit(call, { verb, object, json, old, expected });
    return { json, revision, gone };
  }

  #commit(call: WriteCall, { verb, object, json, old, expected }: Revised): Promise<Revision> {
    const { definition, caller, author } = call;
    const { name = '', uid = '' } = object.metadata;
    const holds = allocatedBy(definition, verb, object, old);
    return this.#store.commit({
      verb,
      key: toKey(call, name),
      uid,
      expected,
      json,
      attribution: author.attribution,
      ...(caller === undefined ? {} : { caller }),
      ...(holds === undefined ? {} : { holds }),
      ...(definition.strategy.expires === true
        ? { expiresAt: new Date(this.#now().getTime() + this.#eventTtlMs) }
        : {}),
    });
  }
}

interface Revised {
  readonly verb: WriteVerb;
  readonly object: ApiObject;
  readonly json: Buffer;
  /** Absent for a create, as is `expected`. */
  readonly old?: ApiObject;
  readonly expected?: Revision;
}

/** In whatever order its fields come. That an owner wrote a field again, with the value it had, is no change either. */
function isUnchanged(object: ApiObject, old: ApiObject): boolean {
  return (
    equalExcept(object.metadata, old.metadata, ['managedFields', 'resourceVersion']) &&
    sameOwners(object.metadata.managedFields, old.metadata.managedFields) &&
    equalExcept(object, old, ['metadata'])
  );
}
