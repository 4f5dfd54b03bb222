import { inTime } from '../../util/in-time.ts';
import { pause } from '../../util/pause.ts';

/** How long a thread may be busy before it counts as unready. */
const READY_MS = 2000;
/** How long before a restart of the server is the only help. */
const ALIVE_MS = 30_000;
/** How often a thread is looked after. */
const LOOK_MS = 3000;
/** As many looks without an answer, 15 s, say that a thread hangs. */
const LOOKS = 5;

/**
 * ThreadPulse asks a serving thread whether it works. Messages arrive in order: a thread that answers has taken the changes of the
 * log that were sent to it before, so that a late answer is also how far it is behind. A thread that hangs is replaced; the health check
 * fails where that does not help.
 */
export class ThreadPulse {
  readonly #name: string;
  readonly #ask: () => Promise<string>;
  readonly #nowMs: () => number;
  #asked: { readonly sinceMs: number; readonly trouble: Promise<string> } | undefined;

  /** `ask` returns what does not work; '' when all does. */
  constructor(name: string, ask: () => Promise<string>, nowMs: () => number = () => performance.now()) {
    this.#name = name;
    this.#ask = ask;
    this.#nowMs = nowMs;
  }

  /** @throws Error that says what the thread lacks */
  async assertReady(): Promise<void> {
    const late = (): string => `no answer for ${READY_MS / 1000} s`;
    const trouble = await inTime(this.#question().trouble, READY_MS, late);
    if (trouble !== '') throw new Error(`${this.#name}: ${trouble}`);
  }

  /** Asks without waiting. @throws Error when an earlier question is unanswered for too long */
  assertAlive(): void {
    const silentMs = this.#nowMs() - this.#question().sinceMs;
    if (silentMs > ALIVE_MS) throw new Error(`${this.#name}: no answer for ${Math.round(silentMs / 1000)} s`);
  }

  /**
   * Runs until the thread hangs. Looks are counted, not seconds: where the whole machine stood still, or this thread did, the answers are
   * taken before the next look. @throws Error when the thread hangs
   */
  async watch(signal: AbortSignal): Promise<void> {
    let asked: unknown;
    let silentLooks = 0;
    while (!signal.aborted) {
      const question = this.#question();
      silentLooks = question === asked ? silentLooks + 1 : 0;
      asked = question;
      if (silentLooks >= LOOKS) throw new Error(`${this.#name}: no answer for ${(LOOKS * LOOK_MS) / 1000} s`);
      await pause(LOOK_MS, signal);
    }
  }

  #question(): { readonly sinceMs: number; readonly trouble: Promise<string> } {
    if (this.#asked !== undefined) return this.#asked;
    // A thread that ends meanwhile is missing, which others notice.
    const trouble = this.#ask()
      .catch(() => '')
      .finally(() => {
        this.#asked = undefined;
      });
    this.#asked = { sinceMs: this.#nowMs(), trouble };
    return this.#asked;
  }
}
