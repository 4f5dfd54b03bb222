import type pg from 'pg';

/** The columns of a row, as text. */
export type TextFields = readonly (string | null)[];

/**
 * Sends the messages of one call (call-messages.ts) and answers the only row, undefined when there is none. The messages may be
 * overwritten once it has answered: when it throws, their end may still be on its way. `timeoutMs`: in place of the client's own.
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

/** What pg asks of a query that writes its own messages, as pg-cursor and pg-query-stream are ones. */
class Call implements pg.Submittable {
  readonly #messages: Buffer;
  #row: TextFields | undefined;
  /** pg puts another in its place, which minds the time. */
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
