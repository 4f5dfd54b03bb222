import type { GroupResource } from '../../api/names.ts';
import { toQualifiedResource } from '../../api/names.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import { type FieldError, StatusError } from '../../api/status.ts';
import { parseStored } from '../../codec/stored-object.ts';
import { invalidUnshown, invalidValue } from '../../object/field-errors.ts';
import { storeOf } from '../../registry/custom.ts';
import type { ResourceDefinition } from '../../registry/resource-definition.ts';
import type { Caller } from '../../request/api-request.ts';
import { failureOf, StorageError, type UnreadableObject } from '../../storage/errors.ts';
import type { History } from '../../storage/history.ts';
import type { Scope } from '../../storage/key.ts';
import type { Revision } from '../../storage/revision.ts';
import type { Entry, Store } from '../../storage/store.ts';
import { getOrAdd } from '../../util/get-or-add.ts';
import { Pace } from '../../util/turns.ts';
import { readPast } from '../../verbs/as-of.ts';
import { toStatusError } from '../../verbs/storage-status.ts';
import { invalidRestore, type Wish } from './wish.ts';
import type { Subject } from './write-rights.ts';

export interface PastParts {
  readonly store: Store;
  readonly historyOf: (resource: GroupResource) => History;
}

/** An object in a past state. */
export interface PastObject extends Subject {
  readonly uid: string;
  readonly ownerUids: readonly string[];
  /** The revision of this state. */
  readonly revision: Revision;
  readonly sizeBytes: number;
  /** Returns a new object each time, which the caller may change. */
  parse(): ApiObject;
}

/** Objects read at a time. */
const PAGE = 500;

/** Reads the state that a Restore names. */
export class PastObjects {
  readonly #parts: PastParts;
  readonly #wish: Wish;
  readonly #caller: Caller;
  readonly #revisions = new Map<History, Promise<Revision>>();

  constructor(parts: PastParts, wish: Wish, caller: Caller) {
    this.#parts = parts;
    this.#wish = wish;
    this.#caller = caller;
  }

  /** @throws StatusError 410, 422 */
  async get(subject: Subject): Promise<PastObject | undefined> {
    const { namespace, name, definition } = subject;
    const scope = definition.namespaced ? { namespace, name } : { name };
    for await (const object of this.each(definition, scope)) return object;
    return undefined;
  }

  /**
   * Yields the objects of a resource, and yields the event loop in between. Passes unreadable objects to `unreadable`,
   * and throws when that is absent.
   * @throws StatusError 410, 422
   */
  async *each(
    definition: ResourceDefinition,
    scope: Scope,
    unreadable?: (object: UnreadableObject) => void,
  ): AsyncGenerator<PastObject> {
    const store = storeOf(definition, this.#parts.store);
    const revision = await this.revisionOf(definition.storage);
    const pace = new Pace({ stepsBetween: 8 });
    let after: string | undefined;
    do {
      const page = await this.#read(
        (around) =>
          store.list({
            resource: definition.storage,
            scope,
            around,
            limit: PAGE,
            caller: this.#caller,
            freshness: { kind: 'exact', revision },
            ...(after === undefined ? {} : { after }),
          }),
        unreadable,
      );
      for (const entry of page.entries) {
        if (pace.isOver()) await pace.rest();
        yield toPastObject(definition, entry);
      }
      after = page.next;
    } while (after !== undefined);
  }

  /** Whether an object existed, of a resource that need not be served. @throws StatusError 410, 422 */
  async had(resource: GroupResource, scope: Scope): Promise<boolean> {
    const revision = await this.revisionOf(resource);
    const freshness = { kind: 'exact', revision } as const;
    const asked = { resource, scope, freshness, around: true, limit: 1, caller: this.#caller };
    const { entries } = await this.#read(() => this.#parts.store.list(asked), undefined);
    return entries.length > 0;
  }

  async #read<Page>(
    read: (around: boolean) => Promise<Page>,
    unreadable: ((object: UnreadableObject) => void) | undefined,
  ): Promise<Page> {
    const revisionOrError = async (around: boolean): Promise<Page> => {
      try {
        return await read(around);
      } catch (error) {
        throw this.#explain(error);
      }
    };
    if (unreadable === undefined) return revisionOrError(false);
    try {
      return await read(false);
    } catch (error) {
      const failure = failureOf(error, 'unreadable');
      if (failure === undefined) throw this.#explain(error);
      for (const object of failure.objects) unreadable(object);
      return revisionOrError(true);
    }
  }

  /** The revision to read, in the log that contains the resource. @throws StatusError 410, 422 */
  revisionOf(resource: GroupResource): Promise<Revision> {
    const history = this.#parts.historyOf(resource);
    return getOrAdd(this.#revisions, history, () => this.#find(history, resource));
  }

  async #find(history: History, resource: GroupResource): Promise<Revision> {
    const { to, name } = this.#wish;
    if (to.kind === 'revision' && this.#revisions.size > 0) {
      const why = `${toQualifiedResource(resource)} are in another database, whose revisions are others: name a moment`;
      throw invalidRestore(name, [invalidValue('spec.to', to.revision.toString(), why)]);
    }
    const { revision: begin } = await history.begin();
    const refuse = (field: string, value: string, why: string): Error =>
      invalidRestore(name, [invalidValue(field, value, why)]);
    const assertKept = async (revision: Revision): Promise<Revision> => {
      if (revision < begin)
        throw new StorageError({ kind: 'compacted', requested: revision, compacted: begin });
      const newest = await history.newest();
      if (revision <= newest) return revision;
      throw refuse('spec.to', revision.toString(), `is newer than the newest revision, ${newest}`);
    };
    return readPast(to, history, assertKept, { field: 'spec.to', refuse });
  }

  /** Compaction may pass the revision while it is read. */
  #explain(error: unknown): unknown {
    const failure = failureOf(error, 'compacted');
    if (failure === undefined) return toStatusError(error, { group: '', resource: '' }, '');
    const { requested, compacted } = failure;
    return new StatusError({
      code: 410,
      reason: 'Expired',
      message: `spec.to: revision ${requested} is no longer kept; history is kept from revision ${compacted}`,
    });
  }

  /** A 422 of the Restore. */
  invalid(error: FieldError): Error {
    return invalidRestore(this.#wish.name, [error]);
  }

  /** Explains why the object did not exist in that state, and what the user can do. */
  async absence(subject: Subject, live: ApiObject | undefined): Promise<Error> {
    const { definition, namespace, name } = subject;
    const why = await this.#whyAbsent(subject, live);
    const where = definition.namespaced ? ` in namespace ${JSON.stringify(namespace)}` : '';
    const what = `${toQualifiedResource(definition)} ${JSON.stringify(name)}${where}`;
    return invalidRestore(this.#wish.name, [invalidUnshown('spec.to', `${what} was not there then: ${why}`)]);
  }

  async #whyAbsent({ definition, namespace, name }: Subject, live: ApiObject | undefined): Promise<string> {
    const history = this.#parts.historyOf(definition.storage);
    const upTo = await this.revisionOf(definition.storage);
    const of = { resource: definition.storage, namespace: definition.namespaced ? namespace : '', name };
    const { rows } = await history.rows({ ...of, upTo, order: 'newest first', limit: 1, states: 'none' });
    const [last] = rows;
    if (last?.verb === 'delete')
      return `revision ${last.revision} had deleted it; its last state is that of revision ${last.previous ?? last.revision - 1n}`;
    const [first] = (
      await history.rows({ ...of, after: upTo, order: 'oldest first', limit: 1, states: 'none' })
    ).rows;
    if (first === undefined) return 'history does not know it';
    const { revision } = first;
    return live === undefined
      ? `it was created by revision ${revision}, the first state that it can have`
      : `it was created by revision ${revision}; delete it if it is not to be there`;
  }
}

function toPastObject(definition: ResourceDefinition, entry: Entry): PastObject {
  const { namespace, name, uid, ownerUids, revision, json } = entry;
  return {
    definition,
    namespace,
    name,
    uid,
    ownerUids,
    revision,
    sizeBytes: json.length,
    parse: () => parseStored(json),
  };
}
