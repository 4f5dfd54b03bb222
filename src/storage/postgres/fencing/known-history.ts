import { NO_REVISION, type Revision, toRevision } from '../../revision.ts';
import type { Queryable } from '../connection/prepared.ts';
import { CLUSTER_MADE, DOUBT_HISTORY, DOUBT_PLACE, KEEP_EPOCH, VOUCH } from '../read/queries.ts';
import type { KnownRow } from './known-row.ts';
import type { Witness } from './witness.ts';

/**
 * KnownHistory is what this process knows of the log, to notice when the database has another: after a promotion or a restore that
 * lost commits. All connections, commits and fresh reads are checked against it.
 *
 * `seen` is the newest row that was visible in the database. A row from the stream may not be yet, because its commit waits for a
 * standby; it counts once a read has got as far.
 */
export class KnownHistory {
  readonly #witness: Witness | undefined;
  #meeting: Promise<void> | undefined;
  #seen: KnownRow | undefined;
  #streamed: KnownRow | undefined;
  #visible: Revision = NO_REVISION;
  #epoch: Revision | undefined;
  #epochsBegun = 0;
  readonly #listeners = new Set<(epoch: Revision) => void>();
  readonly #onVisible = new Set<() => void>();

  /** `witness` vouches for the log where PostgreSQL was started again or promoted; without it, such a log is another one. */
  constructor(witness?: Witness) {
    this.#witness = witness;
  }

  get seen(): KnownRow | undefined {
    return this.#seen;
  }

  /** The newest row that this process or a client of it knows, visible or not. */
  get newest(): KnownRow | undefined {
    const [seen, streamed] = [this.#seen, this.#streamed];
    return streamed !== undefined && streamed.revision > (seen?.revision ?? NO_REVISION) ? streamed : seen;
  }

  /** Everything up to here is known to be visible. */
  get visible(): Revision {
    return this.#visible;
  }

  /** The present epoch; undefined before the first read. */
  get epoch(): Revision | undefined {
    return this.#epoch;
  }

  /** Epochs that began while this process ran. */
  get epochsBegun(): number {
    return this.#epochsBegun;
  }

  isVisible(revision: Revision): boolean {
    return revision <= this.#visible;
  }

  /** Notes a row that was committed here, or read. */
  saw(row: KnownRow): void {
    if (row.revision > (this.#seen?.revision ?? NO_REVISION)) this.#seen = row;
    this.#found(row.revision);
  }

  streamed(row: KnownRow): void {
    if (this.isVisible(row.revision)) this.saw(row);
    else this.#streamed = row;
  }

  /** Notes that a read found the log here. */
  readUpTo(revision: Revision, epoch: Revision): void {
    // First, because what is visible in a new epoch says nothing of what was streamed before it.
    this.began(epoch);
    this.#found(revision);
    if (this.#streamed !== undefined && this.#streamed.revision <= revision) this.saw(this.#streamed);
  }

  #found(revision: Revision): void {
    if (revision <= this.#visible) return;
    this.#visible = revision;
    for (const listener of this.#onVisible) listener();
  }

  /** Calls `listener` when more gets visible. Returns how to end that. */
  onVisible(listener: () => void): () => void {
    this.#onVisible.add(listener);
    return () => this.#onVisible.delete(listener);
  }

  /** Calls `listener` at every epoch but the first. Returns how to end that. */
  onEpoch(listener: (epoch: Revision) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  began(epoch: Revision): void {
    const before = this.#epoch;
    if (before !== undefined && epoch <= before) return;
    this.#epoch = epoch;
    if (before === undefined) return;
    this.#epochsBegun += 1;
    if (this.#streamed !== undefined && this.#streamed.revision <= epoch) this.#streamed = undefined;
    for (const listener of this.#listeners) listener(epoch);
  }

  /**
   * Checks a new connection: begins a new epoch when the database is not the known one.
   * @throws Error of SQLSTATE 40001 while other servers have yet to vouch for it
   */
  async assure(client: Queryable): Promise<void> {
    await this.#meet(client);
    const values = this.#values(this.#seen);
    const witness = this.#witness?.isKnown === true ? this.#witness : undefined;
    const [row] = await (witness === undefined
      ? DOUBT_HISTORY.run(client, values)
      : DOUBT_PLACE.run(client, values));
    const isMoved = row !== undefined && 'moved' in row && row.moved === 't';
    if (row !== undefined && row.doubt === null && !isMoved) this.began(toRevision(row.epoch));
    else await this.keepEpoch(client);
  }

  /**
   * Checks under the ordering lock whether the log has lost `row`, and if so begins a new epoch. Returns the present one.
   * @throws what PostgreSQL says, also when the lock is not free in time; as {@link assure}
   */
  async keepEpoch(client: Queryable, row: KnownRow | undefined = this.newest): Promise<Revision> {
    const epoch =
      this.#witness?.isKnown === true
        ? await this.#vouch(client, this.#witness, row)
        : await keepEpoch(client, this.#values(row));
    this.began(epoch);
    return epoch;
  }

  async #vouch(client: Queryable, { server, shown }: Witness, row: KnownRow | undefined): Promise<Revision> {
    const known = shown > this.#visible ? shown : this.#visible;
    const hasLived = this.#epoch !== undefined;
    const [answer] = await VOUCH.run(client, {
      ...{ ...this.#values(row), server, hasLived },
      shown: known.toString(),
    });
    if (answer?.awaits === 't') throw Object.assign(new Error(UNVOUCHED), { code: SERIALIZATION_FAILURE });
    return toRevision(answer?.epoch ?? 0);
  }

  /** Introduces the witness, once: what it knows of the past may be of another cluster. */
  #meet(client: Queryable): Promise<void> {
    if (this.#witness === undefined) return Promise.resolve();
    this.#meeting ??= this.#introduce(client, this.#witness).catch((error: unknown) => {
      this.#meeting = undefined;
      throw error;
    });
    return this.#meeting;
  }

  async #introduce(client: Queryable, witness: Witness): Promise<void> {
    const [row] = await CLUSTER_MADE.run(client, {});
    if (row === undefined) return;
    const known = witness.meet(row.made);
    this.#seen ??= known;
  }

  #values(row: KnownRow | undefined): { revision: string | null; writeId: string | null } {
    return { revision: row?.revision.toString() ?? null, writeId: row?.writeId ?? null };
  }
}

const SERIALIZATION_FAILURE = '40001';
const UNVOUCHED =
  'PostgreSQL was promoted or started again, and other servers that were connected before have yet to vouch for its history';

async function keepEpoch(
  client: Queryable,
  values: { readonly revision: string | null; readonly writeId: string | null },
): Promise<Revision> {
  const [kept] = await KEEP_EPOCH.run(client, values);
  return toRevision(kept?.epoch ?? 0);
}
