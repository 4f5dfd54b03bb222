import type { Revision } from '../../revision.ts';
import { type ChangeSink, mayHaveMore } from '../../revision-log.ts';
import type { KnownHistory } from '../fencing/known-history.ts';
import type { PostgresReader, TailPage } from '../read/reader.ts';
import type { LoggedChange } from '../read/rows.ts';

const CATCH_UP_PAGE = 1000;

/** TailPosition knows how far the sink has got, and checks that the log still is the one it was read from. */
export class TailPosition {
  readonly #reader: PostgresReader;
  readonly #history: KnownHistory;
  readonly #sink: ChangeSink;
  readonly #onApplied: (revision: Revision, committedAt?: Date) => void;
  #applied: Revision;
  #followed = 0;
  /** The write id of the row at `#applied`: after a failover the same number may belong to another write. */
  #writeId: string | undefined;
  #busy: Promise<void> = Promise.resolve();

  constructor(options: {
    reader: PostgresReader;
    history: KnownHistory;
    sink: ChangeSink;
    from: Revision;
    onApplied: (revision: Revision, committedAt?: Date) => void;
  }) {
    this.#reader = options.reader;
    this.#history = options.history;
    this.#sink = options.sink;
    this.#applied = options.from;
    this.#onApplied = options.onApplied;
    this.#onApplied(options.from);
  }

  get applied(): Revision {
    return this.#applied;
  }

  /** Counts changes that the stream brought before the table did. */
  get followed(): number {
    return this.#followed;
  }

  /** Applies the stream's changes. @throws Error when some are missing before them */
  follow(changes: readonly LoggedChange[]): void {
    const fresh = this.#fresh(changes);
    if (this.#isBefore(fresh[0]?.follows)) {
      throw new Error(`the replication stream left out changes after revision ${this.#applied}`);
    }
    this.#followed += fresh.length;
    const last = this.#apply(fresh);
    if (last !== undefined) this.#history.streamed(last);
  }

  /** Reads the table up to its end. Calls never overlap: the poller's and the slot's take turns. */
  catchUp(signal: AbortSignal): Promise<void> {
    const turn = this.#busy.then(() => this.#catchUp(signal));
    this.#busy = turn.catch(() => {});
    return turn;
  }

  async #catchUp(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const after = this.#applied;
      const page = await this.#reader.tailPage(after, CATCH_UP_PAGE);
      // The stream has gone on meanwhile, and needs no help.
      if (this.#applied !== after) return;
      const lost = this.#lostHistory(page);
      if (lost !== undefined) {
        await this.#reset(lost);
        continue;
      }
      if (this.#isDoubtful(page)) {
        // Either an epoch begins, or the row was not visible yet and is now.
        await this.#reader.keepEpoch({ revision: this.#applied, writeId: this.#writeId });
        continue;
      }
      this.#writeId ??= page.writeId;
      const last = this.#apply(this.#fresh(page.changes));
      if (last !== undefined) this.#history.saw(last);
      if (!mayHaveMore(page.changes, CATCH_UP_PAGE)) return;
    }
  }

  #apply(changes: readonly LoggedChange[]): LoggedChange | undefined {
    const last = changes.at(-1);
    if (last === undefined) return undefined;
    this.#sink.apply(changes);
    this.#applied = last.revision;
    this.#writeId = last.writeId;
    this.#onApplied(last.revision, last.committedAt);
    return last;
  }

  #fresh(changes: readonly LoggedChange[]): readonly LoggedChange[] {
    return changes.filter(({ revision }) => revision > this.#applied);
  }

  #isBefore(revision: Revision | undefined): boolean {
    return revision !== undefined && this.#applied < revision;
  }

  /** Returns why the page does not follow what was applied. It and the compacted revision are of one snapshot. */
  #lostHistory({ changes, compacted, epoch }: TailPage): 'compacted' | 'rewound' | undefined {
    if (this.#applied < epoch) return 'rewound';
    if (this.#applied < compacted) return 'compacted';
    return this.#isBefore(changes[0]?.follows) ? 'rewound' : undefined;
  }

  /**
   * Rows above the compacted revision are never deleted, so a missing one, or one of another write, means that the database has
   * lost commits, or that what the stream brought is not visible yet.
   */
  #isDoubtful({ compacted, epoch, writeId }: TailPage): boolean {
    if (this.#applied === compacted || this.#applied === epoch) return false;
    return writeId === undefined || (this.#writeId !== undefined && writeId !== this.#writeId);
  }

  async #reset(reason: 'compacted' | 'rewound'): Promise<void> {
    this.#applied = await this.#sink.reset(reason);
    this.#writeId = undefined;
    this.#onApplied(this.#applied);
  }
}
