import { toApiVersion } from '../../api/names.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import { alreadyExists, notFound, type StatusError } from '../../api/status.ts';
import { isDeleting, toStoredJson } from '../../codec/stored-object.ts';
import { equalExcept } from '../../object/equality.ts';
import { sameOwners } from '../../object/managed-fields/owners.ts';
import { storeOf } from '../../registry/custom.ts';
import { timeWait } from '../../request/waits.ts';
import { failureOf, StorageError, type UnreadableObject } from '../../storage/errors.ts';
import type { ObjectKey } from '../../storage/key.ts';
import type { Revision } from '../../storage/revision.ts';
import type { WriteVerb } from '../../storage/revision-log.ts';
import type { Store } from '../../storage/store.ts';
import { toStatusError } from '../storage-status.ts';
import { allocatedBy } from './allocation.ts';
import { assertFresh, type Read } from './change.ts';
import { type Deletion, endsWithUpdate } from './deletion.ts';
import type { SharedExpiry } from './shared-expiry.ts';
import { type Removed, toKey, type WriteCall, type Written } from './write-call.ts';

/** The last step of a write: commits a new object as a revision. Dry runs, and updates that change nothing, commit nothing. */
export class Commits {
  readonly #store: Store;
  readonly #now: () => Date;
  readonly #expiry: SharedExpiry;

  constructor(options: { store: Store; now: () => Date; expiry: SharedExpiry }) {
    this.#store = options.store;
    this.#now = options.now;
    this.#expiry = options.expiry;
  }

  /** @throws StatusError, or StorageError `taken` */
  async create(call: WriteCall, object: ApiObject): Promise<Written> {
    const json = toStoredJson(object);
    const name = object.metadata.name ?? '';
    try {
      if (call.dryRun) {
        await this.#assertAbsent(call, name);
        return { json: await shown(call, json), revision: undefined, created: true };
      }
      const revision = await this.#commit(call, { verb: 'create', object, json });
      return { json: await shown(call, json), revision, created: true };
    } catch (error) {
      const existing = failureOf(error, 'exists');
      if (existing === undefined) throw toStatusError(error, call.definition, name);
      throw await this.#toAlreadyExists(call, object, existing.current);
    }
  }

  /** The object that is there may be gone again, or unreadable: the answer then says nothing about its deletion. */
  async #toAlreadyExists(
    call: WriteCall,
    { metadata: { name = '', generateName = '' } }: ApiObject,
    revision: Revision,
  ): Promise<StatusError> {
    const read = this.#storeOf(call).get(toKey(call, name), { kind: 'not-older', revision }, call.caller);
    const entry = await read.catch(() => undefined);
    const isEnding = entry !== undefined && isDeleting(entry.json, entry.metadataEnd);
    return alreadyExists(call.definition, name, { isEnding, isGenerated: generateName !== '' });
  }

  async #assertAbsent(call: WriteCall, name: string): Promise<void> {
    const key = toKey(call, name);
    const entry = await this.#storeOf(call).get(key, { kind: 'latest' }, call.caller);
    if (entry !== undefined) throw new StorageError({ kind: 'exists', key, current: entry.revision });
  }

  /** `gone`: the update removed the last finalizer of a deletion, so that the object has ended. @throws StorageError */
  async update(
    call: WriteCall,
    read: Read,
    { object, old }: { object: ApiObject; old: ApiObject },
  ): Promise<Written & { readonly gone: boolean }> {
    const { json: oldJson, revision: expected } = read.entry;
    const gone = endsWithUpdate(call.definition, object, old);
    // Asked last: in a serving thread, the answer is the main thread's.
    const unchanged = !gone && isUnchanged(object, old) && (await read.entry.isOutdated) !== true;
    if (unchanged || call.dryRun) assertFresh(read);
    if (unchanged) return { json: oldJson, revision: expected, created: false, gone };
    const json = toStoredJson(object);
    if (call.dryRun) return { json: await shown(call, json), revision: expected, created: false, gone };
    const verb = gone ? 'delete' : 'update';
    const revision = await this.#commit(call, { verb, object, json, old, expected });
    return { json: await shown(call, json), revision, created: false, gone };
  }

  /** Executes the plan, unless it is a dry run. @throws StorageError */
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

  /** Records a delete without the object's content. @throws StatusError, StorageError */
  async removeUnreadable(call: WriteCall, name: string): Promise<Removed> {
    const { definition } = call;
    const found = await findUnreadable(this.#storeOf(call), toKey(call, name));
    if (found === undefined) throw notFound(definition, name);
    const { uid, revision: expected } = found;
    const metadata = { name, ...(definition.namespaced ? { namespace: call.namespace } : {}), uid };
    const { group, kind } = definition;
    const apiVersion = toApiVersion({ group, version: call.version });
    const object: ApiObject = { kind, apiVersion, metadata };
    const json = toStoredJson(object);
    const revision = await this.#commit(call, { verb: 'delete', object, json, old: object, expected });
    return { json, revision, gone: true };
  }

  #storeOf({ definition }: WriteCall): Store {
    return storeOf(definition, this.#store);
  }

  #commit(call: WriteCall, { verb, object, json, old, expected }: Revised): Promise<Revision> {
    const { definition, caller, author, request } = call;
    const { name = '', uid = '' } = object.metadata;
    const holds = allocatedBy(definition, verb, object, old);
    const commit = this.#storeOf(call).commit({
      verb,
      key: toKey(call, name),
      uid,
      expected,
      json,
      attribution: author.attribution,
      ...(caller === undefined ? {} : { caller }),
      ...(holds === undefined ? {} : { holds }),
      ...(definition.strategy.expires === true
        ? { expiresAt: this.#expiry.next(this.#now().getTime()) }
        : {}),
    });
    return timeWait(request?.waits, 'storage', commit);
  }
}

/** Returns the object in the version a read returns. */
const shown = ({ definition: { custom } }: WriteCall, json: Buffer): Buffer | Promise<Buffer> =>
  custom === undefined ? json : custom.readBack(json);

interface Revised {
  readonly verb: WriteVerb;
  readonly object: ApiObject;
  readonly json: Buffer;
  /** Absent for a create, as is `expected`. */
  readonly old?: ApiObject;
  readonly expected?: Revision;
}

/** Ignores the order of fields, and times of managed fields: writing the same value again is no change. */
function isUnchanged(object: ApiObject, old: ApiObject): boolean {
  return (
    equalExcept(object.metadata, old.metadata, ['managedFields', 'resourceVersion']) &&
    sameOwners(object.metadata.managedFields, old.metadata.managedFields) &&
    equalExcept(object, old, ['metadata'])
  );
}

/** The unreadable object; undefined when it is readable or absent. @throws StorageError */
async function findUnreadable(store: Store, key: ObjectKey): Promise<UnreadableObject | undefined> {
  try {
    await store.get(key, { kind: 'latest' });
    return undefined;
  } catch (error) {
    const failure = failureOf(error, 'unreadable');
    if (failure === undefined) throw error;
    return failure.objects[0];
  }
}
