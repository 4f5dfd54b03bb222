import type { Revision } from '../../revision.ts';
import type { DatabaseSource } from '../connection/connection.ts';
import type { Queryable } from '../connection/prepared.ts';
import type { TailSource } from '../feed/tail-source.ts';
import type { KnownHistory } from '../fencing/known-history.ts';
import type { LoadConnection } from './load.ts';
import { ReadServer, type ReadServerOptions } from './read-server.ts';
import { type KnownLog, type LogIdentity, readPosition, type Wanted } from './standby.ts';

/** What readiness and metrics show. */
export interface ReadServersState {
  readonly servers: readonly Pick<ReadServer, 'name' | 'isInService' | 'answered'>[];
  /** Reads and loads that the primary answered in place of read servers. */
  readonly answeredByPrimary: number;
}

interface ReadServersOptions extends Omit<ReadServerOptions, 'known' | 'wanted'> {
  /** postgres:// URLs of standbys. */
  readonly urls: readonly string[];
  readonly history: KnownHistory;
  readonly primary: DatabaseSource;
}

/**
 * ReadServers are standbys that answer what is known to be past: history and cold loads. They take turns; one that fails or lags
 * has none until it is back. What none can answer, the primary answers, within the same request.
 */
export class ReadServers {
  readonly #servers: readonly ReadServer[];
  readonly #history: KnownHistory;
  readonly #primary: DatabaseSource;
  #identity: Promise<LogIdentity> | undefined;
  #next = 0;
  #answeredByPrimary = 0;

  constructor({ urls, history, primary, ...options }: ReadServersOptions) {
    const known = (): Promise<KnownLog> => this.#known();
    const wanted = (): Wanted => ({ upTo: history.visible, after: history.visible });
    this.#servers = [...new Set(urls)].map((url) => new ReadServer(url, { ...options, known, wanted }));
    this.#history = history;
    this.#primary = primary;
  }

  get isEmpty(): boolean {
    return this.#servers.length === 0;
  }

  get state(): ReadServersState {
    return { servers: this.#servers, answeredByPrimary: this.#answeredByPrimary };
  }

  /** Returns undefined when the primary must answer. `wanted.upTo` must be visible there. @throws StorageError of the primary */
  read<Result>(wanted: Wanted, work: (client: Queryable) => Promise<Result>): Promise<Result | undefined> {
    return this.#first((server) => server.read(wanted, work));
  }

  /** As {@link read}, over a connection for COPY. `work` may have begun in vain, also when the result is undefined. */
  load<Result>(
    wanted: Wanted,
    work: (connection: LoadConnection, revision: Revision) => Promise<Result>,
  ): Promise<Result | undefined> {
    return this.#first((server) => server.load(wanted, work));
  }

  /** Returns the servers that may give the tail its slot. */
  tailSources(): readonly TailSource[] {
    return this.#inTurn().map(({ tailSource }) => tailSource);
  }

  async close(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.close()));
  }

  async #first<Result>(
    ask: (server: ReadServer) => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    if (this.isEmpty) return undefined;
    for (const server of this.#inTurn()) {
      const answer = await ask(server);
      if (answer !== undefined) return answer;
    }
    this.#answeredByPrimary += 1;
    return undefined;
  }

  #inTurn(): readonly ReadServer[] {
    const able = this.#servers.filter((server) => server.isInService);
    this.#next = able.length === 0 ? 0 : (this.#next + 1) % able.length;
    return [...able.slice(this.#next), ...able.slice(0, this.#next)];
  }

  async #known(): Promise<KnownLog> {
    if (this.#identity === undefined || (await this.#identity).epoch !== this.#history.epoch) {
      this.#identity = this.#readIdentity();
      this.#identity.catch(() => {
        this.#identity = undefined;
      });
    }
    return { identity: await this.#identity, seen: this.#history.seen };
  }

  async #readIdentity(): Promise<LogIdentity> {
    const { pool } = await this.#primary();
    const position = await readPosition(pool, this.#history.visible);
    this.#history.began(position.epoch);
    return position;
  }
}
