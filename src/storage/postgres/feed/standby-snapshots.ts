import { pause } from '../../../util/pause.ts';
import type { PostgresReader } from '../read/reader.ts';

const SNAPSHOT_MS = 500;
/** PostgreSQL does this by itself every 15 s, unless nothing happens. */
const SLOT_PATIENCE_MS = 20_000;

/** StandbySnapshots has the primary log its running transactions until the slot is there: without them, a standby makes none. */
export class StandbySnapshots {
  readonly #reader: PostgresReader;
  readonly #slot: AbortSignal;

  /** `slot` aborts when it is there. */
  constructor(reader: PostgresReader, slot: AbortSignal) {
    this.#reader = reader;
    this.#slot = slot;
  }

  /** Runs until the slot is there. @throws Error when it takes too long */
  async run(signal: AbortSignal): Promise<void> {
    const either = AbortSignal.any([signal, this.#slot]);
    const untilMs = performance.now() + SLOT_PATIENCE_MS;
    let mayTell = true;
    while (!either.aborted) {
      // Without the right, it may still come by itself.
      if (mayTell) mayTell = await this.#reader.tellStandbys().catch(() => true);
      await pause(SNAPSHOT_MS, either);
      if (!either.aborted && performance.now() > untilMs)
        throw new Error(`it made no slot within ${SLOT_PATIENCE_MS / 1000} s`);
    }
  }
}
