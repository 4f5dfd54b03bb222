/**
 * How long after the reply to a write its event came. Negative when the event was faster, which is as it should be: both
 * are sent by the same server.
 */
export class DelayMeter {
  readonly #replies = new Map<string, number>();
  readonly #early: { readonly version: string; readonly at: number }[] = [];
  #delaysMs: number[] = [];

  replied(version: string, at: number): void {
    this.#replies.set(version, at);
  }

  seen(version: string, at: number): void {
    const repliedAt = this.#replies.get(version);
    if (repliedAt === undefined) this.#early.push({ version, at });
    else this.#delaysMs.push(at - repliedAt);
  }

  /** All since the last time. An event whose write was never answered has no delay. */
  take(): number[] {
    for (const { version, at } of this.#early) {
      const repliedAt = this.#replies.get(version);
      if (repliedAt !== undefined) this.#delaysMs.push(at - repliedAt);
    }
    const taken = this.#delaysMs;
    this.#delaysMs = [];
    this.#early.length = 0;
    return taken;
  }
}
