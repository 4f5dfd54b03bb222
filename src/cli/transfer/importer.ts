import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../api/object-meta.ts';
import { parseStored } from '../../codec/stored-object.ts';
import { equal } from '../../object/equality.ts';
import { StorageError } from '../../storage/errors.ts';
import type { Attribution, WriteVerb } from '../../storage/revision-log.ts';
import { pause } from '../../util/pause.ts';
import { allocatedBy } from '../../verbs/writing/allocation.ts';
import { SharedExpiry } from '../../verbs/writing/shared-expiry.ts';
import { VERSION } from '../../version.ts';
import { describe } from './describe.ts';
import { type Live, type Target, toLive } from './import-target.ts';
import { lacksAddress } from './lacks-address.ts';
import { learnDefinitions } from './learn-definitions.ts';
import { NamespacesInUse } from './namespaces-in-use.ts';
import { findOthers } from './others.ts';
import type { PastWrite } from './past-write.ts';
import type { Progress } from './progress.ts';
import { type Outcome, Report } from './report.ts';
import { NotTaken, Refused, type Shaped, type Shapes, type SourceObject } from './shapes.ts';
import type { Source } from './source.ts';

interface ImporterOptions {
  readonly source?: Pick<Source, 'uids'>;
  readonly shapes: Shapes;
  readonly target: Target;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  readonly eventTtlMs: number;
  readonly dryRun: boolean;
  /** Whether an object of the source takes the place of another of its name. */
  readonly replaces: boolean;
}

/** Bounds of what is under way: batches are full, and the committer is never overloaded. */
const MOST_OPEN = 2048;
const MOST_OPEN_BYTES = 6 * 1024 * 1024;
const ATTEMPTS = 20;
const AGAIN_MS = 500;
/** A batch of events ends together. */
const EXPIRY_REUSE_MS = 60_000;

const AUTHOR: Attribution = {
  username: 'pg-apiserver:import',
  userAgent: `pg-apiserver/${VERSION.gitVersion}`,
  sourceAddress: '',
  requestId: '',
  fieldManager: 'pg-apiserver-import',
};

/**
 * Importer writes objects into the log of the target as they are: uids, times, managed fields and status stay. It compares each with
 * what the target has, so that an import that was cut off continues where it was. An object waits until its owners are there: the
 * garbage collector of a running server would remove it.
 */
export class Importer {
  readonly report = new Report();
  readonly #options: ImporterOptions;
  readonly #live: Map<string, Live>;
  /** Names of what the source has. */
  readonly #seen = new Set<string>();
  /** The uids of objects in the target. */
  readonly #uids: Set<string>;
  /** The last states that history has brought. */
  readonly #replayed = new Map<string, Shaped>();
  /** By the uid of an owner, then by name: the newest states of objects that wait for it. */
  readonly #waiting = new Map<string, Map<string, Shaped>>();
  /** The owner that an object waits for, by name. */
  readonly #waitsFor = new Map<string, string>();
  /** The last work on each object, by name. */
  readonly #open = new Map<string, Promise<void>>();
  readonly #expiry: SharedExpiry;
  readonly #namespaces = new NamespacesInUse();
  #hasRoom: () => void = () => {};
  #openBytes = 0;
  #failure: unknown;

  private constructor(options: ImporterOptions, live: Map<string, Live>) {
    this.#options = options;
    this.#live = live;
    this.#uids = new Set([...live.values()].map(({ uid }) => uid));
    this.#expiry = new SharedExpiry({ ttlMs: options.eventTtlMs, reuseMs: EXPIRY_REUSE_MS });
  }

  /** Reads what the target has. */
  static async begin(options: ImporterOptions): Promise<Importer> {
    const live = await options.target.index();
    await learnDefinitions(options.shapes, live, options.target);
    return new Importer(options, live);
  }

  /** Takes an object; resolves when there is room for the next. @throws Error when the target cannot be written any more */
  async take(given: SourceObject): Promise<Shaped | undefined> {
    this.#options.progress.add(1);
    const shaped = this.#shape(given);
    if (shaped === undefined) return undefined;
    const name = describe(shaped.key);
    this.#seen.add(name);
    this.#namespaces.add(shaped.key.namespace);
    this.#forget(name);
    const owner = this.#missingOwner(shaped);
    // What the target has already need not wait.
    const isThere = this.#live.get(name)?.uid === shaped.uid;
    if (owner !== undefined && !isThere) this.#wait(shaped, owner);
    else {
      if (!isThere && this.#isOrphan(shaped)) this.report.orphan(name);
      await this.#begin(shaped);
    }
    return shaped;
  }

  /** An owner that may come. */
  #missingOwner({ ownerUids }: Shaped): string | undefined {
    const uids = this.#options.source?.uids;
    return ownerUids.find((uid) => !this.#uids.has(uid) && uids?.has(uid) !== false);
  }

  /** One owner of several is enough for the garbage collector. */
  #isOrphan({ ownerUids }: Shaped): boolean {
    return ownerUids.length > 0 && ownerUids.every((uid) => !this.#uids.has(uid));
  }

  #wait(shaped: Shaped, owner: string): void {
    const name = describe(shaped.key);
    this.#waitsFor.set(name, owner);
    const waiting = this.#waiting.get(owner) ?? new Map<string, Shaped>();
    this.#waiting.set(owner, waiting.set(name, shaped));
  }

  /** A newer state takes the place of one that waits. */
  #forget(name: string): void {
    const owner = this.#waitsFor.get(name);
    if (owner === undefined) return;
    this.#waitsFor.delete(name);
    this.#waiting.get(owner)?.delete(name);
  }

  #shape(given: SourceObject): Shaped | undefined {
    const shaped = this.#options.shapes.take(given);
    if (shaped instanceof Refused) this.report.refuse(shaped.name, shaped.reason);
    else if (shaped.own === undefined) return shaped;
    else {
      this.report.leave(describe(shaped.key), shaped.own);
      shaped.giveBack();
    }
    return undefined;
  }

  async #begin(shaped: Shaped): Promise<void> {
    this.#enqueue(shaped, () => this.#put(shaped));
    await this.#room();
  }

  /** Works on an object behind earlier work on it. */
  #enqueue({ key, json }: Shaped, work: () => Promise<void>): void {
    const name = describe(key);
    this.#openBytes += json.length;
    const before = this.#open.get(name);
    const running = (before === undefined ? work() : before.then(work))
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => {
        this.#openBytes -= json.length;
        if (this.#open.get(name) === running) this.#open.delete(name);
        if (!this.#isFull) this.#hasRoom();
      });
    this.#open.set(name, running);
  }

  /** Resolves when there is room for more work. @throws the first failure of any work */
  async #room(): Promise<void> {
    while (this.#isFull)
      await new Promise<void>((resolve) => {
        this.#hasRoom = resolve;
      });
    if (this.#failure !== undefined) throw this.#failure;
  }

  get #isFull(): boolean {
    return this.#open.size >= MOST_OPEN || this.#openBytes >= MOST_OPEN_BYTES;
  }

  /** Resolves when all that was taken is written, but for those that wait for their owners. */
  async drain(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open.values());
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Writes those whose owners have not come: the source lacks them too. */
  async finish(): Promise<void> {
    await this.drain();
    while (this.#waitsFor.size > 0) {
      const left = [...this.#waiting.values()].flatMap((waiting) => [...waiting.values()]);
      this.#waiting.clear();
      this.#waitsFor.clear();
      for (const shaped of left) {
        this.report.orphan(describe(shaped.key));
        await this.#begin(shaped);
      }
      await this.drain();
    }
  }

  /** Namespaces of what was taken that neither the source nor the target has. */
  missingNamespaces(): readonly string[] {
    return this.#namespaces.missing((name) => this.#live.has(name) || this.#seen.has(name));
  }

  async #put(shaped: Shaped): Promise<void> {
    const name = describe(shaped.key);
    try {
      this.report.count(await this.#write(shaped, this.#live.get(name)));
      shaped.giveBack();
      this.#release(shaped.uid);
    } catch (error) {
      if (!(error instanceof NotTaken)) throw error;
      this.report.refuse(name, error.message);
    }
  }

  /** Writes what waited for this owner. */
  #release(uid: string): void {
    this.#uids.add(uid);
    const waiting = this.#waiting.get(uid);
    this.#waiting.delete(uid);
    for (const [name, shaped] of waiting ?? []) {
      if (this.#waitsFor.get(name) !== uid) continue;
      this.#waitsFor.delete(name);
      const owner = this.#missingOwner(shaped);
      if (owner === undefined) this.#enqueue(shaped, () => this.#put(shaped));
      else this.#wait(shaped, owner);
    }
  }

  /** Repeats the write after a conflict, or while the database is away. @throws NotTaken, StorageError */
  async #write(given: Shaped, known: Live | undefined): Promise<Outcome> {
    let live = known;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#writeOnce(given, live);
      } catch (error) {
        if (error instanceof StorageError) refuseIfFinal(error);
        await this.#beforeRetry(error, attempt);
      }
      const stored = await this.#options.target.get(given.key).catch(() => undefined);
      live = stored === undefined ? undefined : toLive(stored);
    }
  }

  /** Waits while the database is away. @throws the error where no attempt is left or would help, or the signal's reason */
  async #beforeRetry(error: unknown, attempt: number): Promise<void> {
    const { signal } = this.#options;
    if (!(error instanceof StorageError) || attempt === ATTEMPTS) throw error;
    if (!CONFLICTS.has(error.failure.kind)) await pause(AGAIN_MS, signal);
    signal.throwIfAborted();
  }

  async #writeOnce(given: Shaped, live: Live | undefined): Promise<Outcome> {
    if (live === undefined) {
      await this.#commit(given, 'create', undefined);
      return 'created';
    }
    const shaped = given.isNew ? await this.#adopt(given) : given;
    if (live.digest === shaped.digest) return 'same';
    if (live.uid === shaped.uid) {
      if (await this.#isStored(shaped)) return 'same';
      await this.#commit(shaped, 'update', live);
      return 'updated';
    }
    if (!this.#options.replaces)
      throw new NotTaken(
        'the target has one of its name with another uid; --replace puts this one in its place',
      );
    await this.#commit(shaped, 'delete', live);
    await this.#commit(shaped, 'create', undefined);
    return 'replaced';
  }

  /** Whether the target has the same, perhaps with its fields in another order. @throws StorageError */
  async #isStored(shaped: Shaped): Promise<boolean> {
    const stored = await this.#options.target.get(shaped.key);
    return stored !== undefined && equal(shaped.object, parseStored(stored.json));
  }

  /** An object without a uid is the one that the target has. */
  async #adopt(given: Shaped): Promise<Shaped> {
    const stored = await this.#options.target.get(given.key);
    if (stored === undefined) return given;
    const { creationTimestamp } = parseStored(stored.json).metadata;
    const { uid } = stored;
    const { object } = given;
    const metadata = {
      ...object.metadata,
      uid,
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    };
    return this.#options.shapes.shape({ ...object, metadata });
  }

  async #commit(
    shaped: Shaped,
    verb: WriteVerb,
    live: Live | undefined,
    author: Attribution = { ...AUTHOR, requestId: randomUUID() },
  ): Promise<void> {
    const { key, definition, json, digest } = shaped;
    if (verb === 'create' && lacksAddress(shaped))
      throw new NotTaken('it has no cluster IP yet: create it by kubectl apply, which gives it one');
    const uid = verb === 'delete' && live !== undefined ? live.uid : shaped.uid;
    if (this.#options.dryRun) return;
    const holds = definition === undefined ? undefined : await this.#holdsOf(shaped, verb, live);
    const revision = await this.#options.target.commit({
      ...{ verb, key, uid, json, expected: live?.revision },
      attribution: author,
      ...(holds === undefined ? {} : { holds }),
      ...(definition?.strategy.expires === true ? { expiresAt: this.#expiry.next(Date.now()) } : {}),
    });
    if (verb === 'delete') this.#live.delete(describe(key));
    else this.#live.set(describe(key), { key, uid, revision, digest });
  }

  /** Addresses and ports change hands with the write. */
  async #holdsOf(shaped: Shaped, verb: WriteVerb, live: Live | undefined) {
    const { definition, key } = shaped;
    if (definition?.strategy.assigned === undefined) return undefined;
    const before = live === undefined ? undefined : await this.#options.target.get(key);
    const old = before === undefined ? undefined : parseStored(before.json);
    return allocatedBy(definition, verb, shaped.object, old);
  }

  /**
   * Writes a past state again, with its author; the log gives it a new number and time. Objects that the target had before are left
   * alone.
   */
  async replay({ verb, state, object, ...by }: PastWrite): Promise<void> {
    const name = describe(object);
    const shaped = verb === 'delete' ? this.#replayed.get(name) : this.#shape(state ?? {});
    if (shaped === undefined) return;
    const live = this.#live.get(name);
    if (live !== undefined && !this.#replayed.has(name)) return;
    if (verb === 'delete') this.#replayed.delete(name);
    else this.#replayed.set(name, shaped);
    const author = {
      ...{ username: by.user, userAgent: by.userAgent, sourceAddress: by.sourceAddress },
      ...{ requestId: by.requestID, fieldManager: by.manager },
    };
    const kind = verb === 'delete' ? 'delete' : live === undefined ? 'create' : 'update';
    await this.#commit(shaped, kind, live, author);
    this.#uids.add(shaped.uid);
  }

  /** Removes an object that the source has removed; resolves when there is room for more. @throws Error */
  async remove(given: JsonObject): Promise<void> {
    const shaped = this.#shape(given);
    if (shaped === undefined) return;
    const name = describe(shaped.key);
    this.#seen.delete(name);
    this.#forget(name);
    this.#enqueue(shaped, () => this.#remove(name, shaped));
    await this.#room();
  }

  /** @throws StorageError */
  findOthers(source: Source): Promise<readonly Live[]> {
    return findOthers(this.#live, this.#seen, { source, target: this.#options.target });
  }

  /** Removes these objects. @throws Error */
  async prune(others: readonly Live[]): Promise<void> {
    for (const { key } of others) {
      const stored = await this.#options.target.get(key);
      if (stored !== undefined) await this.remove(parseStored(stored.json));
    }
    await this.drain();
  }

  /** @throws StorageError */
  async #remove(name: string, shaped: Shaped): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const live = this.#live.get(name);
      if (live === undefined || live.uid !== shaped.uid) return;
      try {
        await this.#commit(shaped, 'delete', live);
        this.#uids.delete(shaped.uid);
        return this.report.count('deleted');
      } catch (error) {
        await this.#beforeRetry(error, attempt);
        const stored = await this.#options.target.get(shaped.key);
        if (stored === undefined) this.#live.delete(name);
        else this.#live.set(name, toLive(stored));
      }
    }
  }
}

/** The target has changed meanwhile: it is read again. */
const CONFLICTS: ReadonlySet<string> = new Set(['exists', 'not-found', 'conflict']);

/** @throws NotTaken where another attempt would end alike */
function refuseIfFinal({ failure }: StorageError): void {
  switch (failure.kind) {
    case 'taken':
      throw new NotTaken(`${failure.value.value} belongs to another object (${failure.value.pool})`);
    case 'too-large':
      throw new NotTaken(
        `its ${failure.sizeBytes} bytes are more than the ${failure.limitBytes} that can be stored`,
      );
    case 'unwritable':
      throw new NotTaken(`it cannot be stored: ${failure.reason}`);
    default:
  }
}
