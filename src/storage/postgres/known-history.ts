import { NO_REVISION, type Revision, toRevision } from '../revision.ts';
import type { Queryable } from './prepared.ts';
import { DOUBT_HISTORY, KEEP_EPOCH } from './queries.ts';

/** One row of the log, which another history would have otherwise or not at all. */
export interface KnownRow {
  readonly revision: Revision;
  readonly writeId: string | undefined;
}

/**
 * What this process knows of the log, so that it notices when the database has another: after a promotion or a restore that
 * lost commits. All connections, commits and fresh reads are held against it.
 *
 * `seen` is the newest row that was visible in the database. A row that the stream delivered may not be yet, because its commit
 * waits for a standby; it counts once a read has got as far.
 */
export class KnownHistory {
  #seen: KnownRow | undefined;
  #streamed: KnownRow | undefined;
  #visible: Revision = NO_REVISION;
  #epoch: Revision | undefined;
  readonly #listeners = new Set<(epoch: Revision) => void>();
  readonly #onVisible = new Set<() => void>();

  get seen(): KnownRow | undefined {
    return this.#seen;
  }

  /** Everything up to here is known to be visible. */
  get visible(): Revision {
    return this.#visible;
  }

  /** The present one; undefined: nothing was read yet. */
  get epoch(): Revision | undefined {
    return this.#epoch;
  }

  isVisible(revision: Revision): boolean {
    return revision <= this.#visible;
  }

  /** The row was committed by us, or read. */
  saw(row: KnownRow): void {
    if (row.revision > (this.#seen?.revision ?? NO_REVISION)) this.#seen = row;
    this.#found(row.revision);
  }

  streamed(row: KnownRow): void {
    if (this.isVisible(row.revision)) this.saw(row);
    else this.#streamed = row;
  }

  /** A read found the log to be here. */
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

  /** Told when more is known to be visible. Answers how to end that. */
  onVisible(listener: () => void): () => void {
    this.#onVisible.add(listener);
    return () => this.#onVisible.delete(listener);
  }

  /** Told of every epoch but the first. Answers how to end that. */
  onEpoch(listener: (epoch: Revision) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  began(epoch: Revision): void {
    const before = this.#epoch;
    if (before !== undefined && epoch <= before) return;
    this.#epoch = epoch;
    if (before === undefined) return;
    if (this.#streamed !== undefined && this.#streamed.revision <= epoch) this.#streamed = undefined;
    for (const listener of this.#listeners) listener(epoch);
  }

  /** For each new connection: begins a new epoch when the database is not the one that was known. */
  async assure(client: Queryable): Promise<void> {
    const [row] = await DOUBT_HISTORY.run(client, this.#values(this.#seen));
    if (row !== undefined && row.doubt === null) this.began(toRevision(row.epoch));
    else await this.keepEpoch(client);
  }

  /**
   * Finds out under the ordering lock whether the log has lost `row`; if so, a new epoch begins. Answers the present one.
   * @throws what PostgreSQL says, also when the lock is not to be had in time
   */
  async keepEpoch(client: Queryable, row: KnownRow | undefined = this.#seen): Promise<Revision> {
    const [kept] = await KEEP_EPOCH.run(client, this.#values(row));
    const epoch = toRevision(kept?.epoch ?? 0);
    this.began(epoch);
    return epoch;
  }

  #values(row: KnownRow | undefined): { revision: string | null; writeId: string | null } {
    return { revision: row?.revision.toString() ?? null, writeId: row?.writeId ?? null };
  }
}
