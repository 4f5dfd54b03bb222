import type { GroupResource } from '../api/names.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';
import { StorageError } from '../storage/errors.ts';
import { type History, type LogPage, withRows } from '../storage/history.ts';
import type { LargeWork } from './large-work.ts';
import type { HistoryParts } from './parts.ts';

/** Bytes of states that a request may read without a place: enough for most objects. */
const SMALL_BYTES = 256 * 1024;

/**
 * Bounds the cost of history reads. How much a request reads is unknown in advance: its first page is small, and a
 * request that needs more waits for one of a few places, and keeps it to its end.
 */
export class ReadLimits {
  readonly #large: LargeWork;

  constructor(large: LargeWork) {
    this.#large = large;
  }

  /** Passes to `read` parts whose histories count the bytes. @throws StatusError 429 */
  async run<Result>(
    parts: HistoryParts,
    request: AuthorizedResourceRequest,
    read: (parts: HistoryParts) => Promise<Result>,
  ): Promise<Result> {
    const allowance = new Allowance(this.#large, request);
    const counted = new Map<History, History>();
    const historyOf = (resource: GroupResource): History => {
      const history = parts.historyOf(resource);
      const known = counted.get(history) ?? countedHistory(history, allowance);
      counted.set(history, known);
      return known;
    };
    try {
      return await read({ ...parts, historyOf });
    } finally {
      allowance.end();
    }
  }
}

/** The bytes that one request may read. */
class Allowance {
  readonly #large: LargeWork;
  readonly #request: AuthorizedResourceRequest;
  #leftBytes = SMALL_BYTES;
  #place: Promise<() => void> | undefined;

  constructor(large: LargeWork, request: AuthorizedResourceRequest) {
    this.#large = large;
    this.#request = request;
  }

  /** The size limit of the next page in bytes; undefined: no limit. */
  async next(): Promise<number | undefined> {
    if (this.#leftBytes > 0) return this.#leftBytes;
    this.#place ??= this.#large.enter(this.#request);
    await this.#place;
    if (this.#request.aborted) throw new StorageError({ kind: 'abandoned' });
    return undefined;
  }

  count({ rows }: LogPage): void {
    for (const { json, previousJson } of rows) this.#leftBytes -= json.length + (previousJson?.length ?? 0);
  }

  end(): void {
    this.#place?.then(
      (leave) => leave(),
      () => {},
    );
  }
}

/** Counts the states of its pages, and bounds their size. */
const countedHistory = (history: History, allowance: Allowance): History =>
  withRows(history, async (query) => {
    if (query.states === 'none') return history.rows(query);
    const mostBytes = await allowance.next();
    const page = await history.rows(mostBytes === undefined ? query : { ...query, mostBytes });
    allowance.count(page);
    return page;
  });
