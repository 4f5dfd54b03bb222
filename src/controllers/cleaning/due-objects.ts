import type { ResourceOf } from '../../api/names.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import { toObject } from '../../storage/object-reader.ts';
import type { Entry, ObjectEvent } from '../../storage/store.ts';
import { runTogether } from '../../util/concurrency.ts';
import { keepDoing, Rest } from '../../util/pause.ts';
import type { Client } from '../../verbs/client/client.ts';

/** The interval of checks: due times are whole seconds. */
const TICK_MS = 1000;
/** Where no object waits, the next one that does ends the pause: nine such rules woke an idle server eight times a second. */
const UNLESS_NOTED_MS = 3_600_000;
const RETRY_MS = 5000;
/** Writes that share a few commits. */
const AT_ONCE = 50;

/** Decides when objects of a resource are due, and acts on them. */
export interface DueRule<T extends ApiObject> {
  readonly resource: ResourceOf<T>;
  /** The field manager of the writes. */
  readonly manager: string;
  /** A cheap check that spares most objects from being parsed. */
  readonly mayBeDue: (entry: Entry) => boolean;
  /** Milliseconds since 1970; undefined: never, in this state of the object. */
  dueAt(object: T): number | undefined;
  /** Returns the milliseconds until the next attempt; undefined when this state needs no more. */
  act(entry: Entry, client: Client): Promise<number | undefined>;
}

interface Waiting {
  readonly entry: Entry;
  dueMs: number;
}

/** Follows the objects of a resource and acts on each when it is due. Repeats what fails. */
export class DueObjects<T extends ApiObject> {
  readonly #rule: DueRule<T>;
  readonly #client: Client;
  readonly #now: () => Date;
  readonly #onError: (error: unknown) => void;
  readonly #waiting = new Map<string, Waiting>();
  /** No object is due earlier. */
  #earliestMs = Number.POSITIVE_INFINITY;
  readonly #rest = new Rest();

  constructor(options: {
    readonly rule: DueRule<T>;
    readonly client: Client;
    readonly now: () => Date;
    readonly onError: (error: unknown) => void;
  }) {
    this.#rule = options.rule;
    this.#client = options.client.as(options.rule.manager);
    this.#now = options.now;
    this.#onError = options.onError;
  }

  /** Starts fresh each time: keeps no state of an earlier run. */
  async run(signal: AbortSignal): Promise<void> {
    const retry = { retryMs: RETRY_MS, onError: this.#onError };
    await runTogether(
      [
        (either) => keepDoing(() => this.#follow(either), either, retry),
        (either) => this.#watchClock(either),
      ],
      signal,
    );
    this.#waiting.clear();
  }

  /** A change of an object. Public for tests, as is {@link actOnDue}. */
  note({ type, entry }: ObjectEvent): void {
    const key = `${entry.namespace}/${entry.name}`;
    const dueMs = type === 'DELETED' ? undefined : this.#rule.dueAt(toObject<T>(entry));
    if (dueMs === undefined) {
      this.#waiting.delete(key);
      return;
    }
    if (this.#waiting.size === 0) this.#rest.cutShort();
    this.#waiting.set(key, { entry, dueMs });
    this.#earliestMs = Math.min(this.#earliestMs, dueMs);
  }

  /** Acts on all due objects. */
  async actOnDue(signal: AbortSignal): Promise<void> {
    const nowMs = this.#now().getTime();
    if (nowMs < this.#earliestMs) return;
    const due = [...this.#waiting].filter(([, { dueMs }]) => dueMs <= nowMs);
    for (let at = 0; at < due.length && !signal.aborted; at += AT_ONCE) {
      await Promise.all(due.slice(at, at + AT_ONCE).map(([key, waiting]) => this.#act(key, waiting)));
    }
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const { dueMs } of this.#waiting.values()) earliestMs = Math.min(earliestMs, dueMs);
    this.#earliestMs = earliestMs;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    this.#waiting.clear();
    const { resource, mayBeDue } = this.#rule;
    for await (const event of this.#client.watch(resource, signal, mayBeDue)) this.note(event);
  }

  async #watchClock(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.actOnDue(signal);
      const mostMs = this.#waiting.size === 0 ? UNLESS_NOTED_MS : TICK_MS;
      await this.#rest.take({ leastMs: TICK_MS, mostMs }, signal);
    }
  }

  async #act(key: string, waiting: Waiting): Promise<void> {
    const againMs = await this.#rule.act(waiting.entry, this.#client).catch((error: unknown) => {
      this.#onError(error);
      return RETRY_MS;
    });
    if (againMs !== undefined) waiting.dueMs = this.#now().getTime() + againMs;
    // Keep the due time of a newer state of the object.
    else if (this.#waiting.get(key) === waiting) this.#waiting.delete(key);
  }
}
