import type pg from 'pg';
import { Slots } from '../../../util/concurrency.ts';
import { type Backoff, pause, pauseAfter } from '../../../util/pause.ts';
import { createReminder } from '../../../util/reminder.ts';
import { StorageError } from '../../errors.ts';
import type { Revision } from '../../revision.ts';
import { Condition } from '../connection/condition.ts';
import {
  type ConnectionOptions,
  connectStandby,
  createPool,
  findStandby,
  toClientConfig,
} from '../connection/connection.ts';
import { parseTarget } from '../connection/connection-target.ts';
import type { Queryable } from '../connection/prepared.ts';
import { isConflict } from '../connection/statements.ts';
import { describeTrouble } from '../connection/trouble.ts';
import { assertPublication } from '../feed/publication.ts';
import type { TailSource } from '../feed/tail-source.ts';
import { connectToLoad, type LoadConnection } from './load.ts';
import { findStrangeness, type KnownLog, onStandbySnapshot, readPosition, type Wanted } from './standby.ts';

/** Short, because the primary can answer too, and a caller waits. */
const BOUNDS = { connectMs: 2000, statementMs: 10_000, lockMs: 2000 } as const;
const SILENT_AFTER_MS = 20_000;
/** Between looks at a server that could not answer. */
const RECOVERIES: Backoff = { firstMs: 500, longestMs: 10_000 };

export interface ReadServerOptions {
  readonly connection: Omit<ConnectionOptions, 'urls' | 'hosts' | 'history'>;
  /** Returns what the primary is known to have. @throws StorageError when the primary does not say */
  readonly known: () => Promise<KnownLog>;
  /** Returns what a server must have to be used again. */
  readonly wanted: () => Wanted;
  /** One line for the log. */
  readonly onTrouble: (message: string) => void;
}

/** How a read uses the standby. */
interface Visit<Client, Result> {
  readonly wanted: Wanted;
  open(): Promise<Client>;
  clientOf(opened: Client): Queryable;
  work(opened: Client, revision: Revision): Promise<Result>;
  close(opened: Client, isInOrder: boolean): Promise<void> | void;
}

/**
 * ReadServer is one standby. It serves reads until it fails or lags; from then on no read waits for it, while it is checked in the
 * background until it can answer again.
 */
export class ReadServer {
  /** `host:port`. */
  readonly name: string;
  readonly #options: ReadServerOptions;
  readonly #connection: ConnectionOptions;
  readonly #condition: Condition;
  readonly #remind: (trouble: string) => void;
  readonly #closing = new AbortController();
  readonly #slots: Slots;
  #pool: Promise<pg.Pool> | undefined;
  #recovering: Promise<void> | undefined;
  #answered = 0;

  /** @throws Error when the URL cannot be read */
  constructor(url: string, options: ReadServerOptions) {
    const { host, port } = parseTarget(url);
    this.name = `${host}:${port}`;
    this.#options = options;
    this.#connection = { ...options.connection, urls: [url] };
    this.#slots = new Slots(options.connection.poolSize);
    this.#condition = new Condition(`read server ${this.name}`, options.onTrouble);
    this.#remind = createReminder(options.onTrouble);
  }

  get isInService(): boolean {
    return this.#recovering === undefined && !this.#closing.signal.aborted;
  }

  /** Reads and loads that it answered. */
  get answered(): number {
    return this.#answered;
  }

  /** Gives the tail a slot, where the primary has none. PostgreSQL 16 or newer. */
  get tailSource(): TailSource {
    return {
      name: this.name,
      isStandby: true,
      clientConfig: async () => toClientConfig(await findStandby(this.#connection), this.#connection, 'tail'),
      check: async (client) => {
        const known = await this.#options.known();
        const position = await readPosition(client, this.#options.wanted().upTo, known.seen);
        const strangeness = findStrangeness(position, known);
        if (strangeness !== undefined) throw new Error(strangeness);
        await assertPublication(client, this.#connection.schema);
      },
    };
  }

  /** Returns undefined when it cannot answer. @throws StorageError of the primary, not for a fault of this server */
  read<Result>(wanted: Wanted, work: (client: Queryable) => Promise<Result>): Promise<Result | undefined> {
    return this.#attempt(() =>
      this.#slots.run(() => {
        // Others may have failed while this read was queued.
        if (!this.isInService) throw new Error('it could not answer others');
        return this.#visit(this.#pooled(wanted, work));
      }),
    );
  }

  /** As {@link read}, over a connection of its own. */
  load<Result>(
    wanted: Wanted,
    work: (connection: LoadConnection, revision: Revision) => Promise<Result>,
  ): Promise<Result | undefined> {
    return this.#attempt(() =>
      this.#visit({
        wanted,
        work,
        open: () => connectToLoad(this.#connection, SILENT_AFTER_MS, connectStandby),
        clientOf: ({ client }) => client,
        close: (connection) => connection.close(),
      }),
    );
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#recovering;
    await this.#forgetPool();
  }

  async #attempt<Result>(read: () => Promise<Result | undefined>): Promise<Result | undefined> {
    try {
      const result = await read();
      if (result !== undefined) this.#answered += 1;
      return result;
    } catch (error) {
      if (error instanceof StorageError) throw error;
      this.#failed(error);
      return undefined;
    }
  }

  #pooled<Result>(
    wanted: Wanted,
    work: (client: Queryable) => Promise<Result>,
  ): Visit<pg.PoolClient, Result> {
    return {
      wanted,
      work,
      open: async () => {
        this.#pool ??= this.#createPool();
        return (await this.#pool).connect();
      },
      clientOf: (client) => client,
      close: (client, isInOrder) => client.release(!isInOrder),
    };
  }

  async #visit<Client, Result>(visit: Visit<Client, Result>): Promise<Result | undefined> {
    const known = await this.#options.known();
    const opened = await visit.open();
    let isInOrder = false;
    try {
      const context = { known, signal: this.#closing.signal };
      const work = (revision: Revision): Promise<Result> => visit.work(opened, revision);
      const result = await onStandbySnapshot(visit.clientOf(opened), visit.wanted, context, work);
      isInOrder = true;
      return result;
    } finally {
      await visit.close(opened, isInOrder);
    }
  }

  async #createPool(): Promise<pg.Pool> {
    const shape = {
      purpose: 'history',
      size: this.#connection.poolSize,
      access: 'standby',
      ...BOUNDS,
    } as const;
    const pool = createPool(this.#connection, await findStandby(this.#connection), shape);
    // The pool does not hear of connections in use, and one without a listener ends the process when it breaks.
    pool.on('connect', (client) => client.on('error', () => {}));
    return pool;
  }

  async #forgetPool(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    await pool?.then((made) => made.end()).catch(() => {});
  }

  /** A standby that cancels a statement, because that is in the way of its replay, is in order. */
  #failed(error: unknown): void {
    const reason = describeTrouble(error);
    if (isConflict(error)) this.#remind(`read server ${this.name}: ${reason}: it is read elsewhere`);
    else if (this.isInService) {
      this.#condition.failed(reason);
      this.#recovering = this.#recover();
    }
  }

  async #recover(): Promise<void> {
    const { signal } = this.#closing;
    for (let failures = 1; !signal.aborted; failures += 1) {
      void this.#forgetPool();
      await pause(pauseAfter(failures, RECOVERIES), signal);
      if (signal.aborted) return;
      try {
        await this.#visit(this.#pooled(this.#options.wanted(), async () => {}));
        this.#condition.worked();
        this.#recovering = undefined;
        return;
      } catch (error) {
        // While the primary does not answer, nothing is known of this server.
        if (!(error instanceof StorageError) && !signal.aborted)
          this.#condition.failed(describeTrouble(error));
      }
    }
  }
}
