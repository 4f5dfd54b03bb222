import { type PauseFor, retry } from '../outbound/retry.ts';
import type { AuditRecord } from './audit-event.ts';
import type { AuditSink, LossReport } from './sink.ts';

interface WebhookOptions {
  readonly apiVersion: string;
  readonly initialBackoffMs: number;
  /** Sends an EventList. @throws Error, also when the answer is not 2xx */
  readonly post: (body: Buffer, signal: AbortSignal) => Promise<void>;
  readonly report: LossReport;
  readonly onClose: () => void;
  readonly pauseFor?: PauseFor;
  readonly random?: () => number;
}

/** As in Kubernetes (apiserver, util/webhook). */
const JITTER = 0.2;
/** How long an ending server waits for the last batches. */
const LAST_MS = 5_000;

/** The webhook back end: posts lists of events, and tries again when that fails. */
export class WebhookSink implements AuditSink {
  readonly #options: WebhookOptions;
  readonly #ending = new AbortController();

  constructor(options: WebhookOptions) {
    this.#options = options;
  }

  async process(records: readonly AuditRecord[]): Promise<boolean> {
    const { apiVersion, report } = this.#options;
    const items = records.map((record) => record.toJson()).join(',');
    const type = `"kind":"EventList","apiVersion":${JSON.stringify(apiVersion)}`;
    try {
      await this.#deliver(Buffer.from(`{${type},"metadata":{},"items":[${items}]}`));
      return true;
    } catch (error) {
      report('webhook', error, records);
      return false;
    }
  }

  /** To be called when the server starts to end: shortens all waiting. */
  hurry(): void {
    setTimeout(() => this.#ending.abort(new Error('the server ended')), LAST_MS).unref();
  }

  async close(): Promise<void> {
    this.#options.onClose();
  }

  async #deliver(body: Buffer): Promise<void> {
    const { post, initialBackoffMs: firstWaitMs, pauseFor, random = Math.random } = this.#options;
    const { signal } = this.#ending;
    const lengthen = (ms: number): number => ms * (1 + random() * JITTER);
    await retry(() => post(body, signal), {
      signal,
      isTransient: () => true,
      firstWaitMs,
      lengthen,
      pauseFor,
    });
  }
}
