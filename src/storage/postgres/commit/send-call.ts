import type pg from 'pg';

/** The columns of a row, as text. */
export type TextFields = readonly (string | null)[];

/**
 * Sends the messages of one call (call-messages.ts) and returns the only row, undefined when there is none. The messages may then
 * be overwritten; when it throws, their end may still be on its way. `timeoutMs` replaces the client's own.
 * @throws what PostgreSQL or the network said
 */
export function call(
  client: pg.ClientBase,
  messages: Buffer,
  timeoutMs?: number,
): Promise<TextFields | undefined> {
  return new Promise((resolve, reject) => {
    const settle: Callback = (error, row) => (error === null ? resolve(row) : reject(error));
    client.query(new Call(messages, settle, timeoutMs));
  });
}

type Callback = (error: unknown, row?: TextFields) => void;

/** Call is a query that writes its own messages, as pg lets pg-cursor and pg-query-stream do. */
class Call implements pg.Submittable {
  readonly #messages: Buffer;
  #row: TextFields | undefined;
  /** pg replaces it, to enforce the timeout. */
  callback: Callback;
  /** Undefined: the client's own. */
  readonly query_timeout: number | undefined;

  constructor(messages: Buffer, callback: Callback, timeoutMs: number | undefined) {
    this.#messages = messages;
    this.callback = callback;
    this.query_timeout = timeoutMs;
  }

  submit({ stream }: pg.Connection): void {
    stream.write(this.#messages);
  }

  handleDataRow({ fields }: { readonly fields: TextFields }): void {
    this.#row = fields;
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback(null, this.#row);
  }

  handleError(error: unknown): void {
    this.callback(error);
  }
}
