import type pg from 'pg';
import type { StoredObject } from '../revision-log.ts';
import { BinaryRows } from './binary-rows.ts';

/**
 * All live objects as fast as PostgreSQL gives them: COPY in its binary format. Rows through a cursor become a string for
 * each column on the way, which for 10,000 pods of 7.7 kB takes three times as long.
 */
const COPY = `
  COPY (
    SELECT r.api_group, r.resource, r.namespace, r.name, r.uid, r.revision, r.object
    FROM heads h JOIN revisions r ON r.revision = h.revision
    ORDER BY h.api_group, h.resource, h.namespace, h.name
  ) TO STDOUT (FORMAT binary)`;

/** The transfer of a large cluster takes longer than any other statement may; keepalives notice a peer that is gone. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** To be called inside a transaction. Rejects with what PostgreSQL answers, or when the connection breaks. */
export async function copyLive(
  client: pg.ClientBase,
  batch: (objects: readonly StoredObject[]) => void,
): Promise<void> {
  await client.query('SET LOCAL statement_timeout = 0');
  const rows = new BinaryRows(batch);
  await new Promise<void>((resolve, reject) => {
    const copy = new CopyOut(COPY, {
      onData: (bytes) => rows.read(bytes),
      onEnd: (error) => (error === undefined ? resolve() : reject(error)),
    });
    client.query(copy);
  });
  rows.flush();
}

/** What `pg` calls on what it was given to submit. */
class CopyOut implements pg.Submittable {
  readonly query_timeout = NO_TIMEOUT_MS;
  /** `pg` puts one of its own around it, and calls it when it gives up on the query by itself. */
  callback: (error?: Error) => void;
  readonly #text: string;
  readonly #onData: (bytes: Buffer) => void;
  #failure: Error | undefined;

  constructor(text: string, on: { onData: (bytes: Buffer) => void; onEnd: (error?: Error) => void }) {
    this.#text = text;
    this.#onData = on.onData;
    this.callback = on.onEnd;
  }

  submit(connection: pg.Connection): void {
    connection.query(this.#text);
  }

  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    if (this.#failure !== undefined) return;
    try {
      this.#onData(chunk);
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
    }
  }

  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback(this.#failure);
  }
}
