import { type GroupResource, toQualifiedResource } from '../api/names.ts';
import type { Logger } from '../observability/logger.ts';
import { storageFlags } from '../options/storage.ts';
import type { Arrival, Move, Moves } from '../storage/moves.ts';
import type { Revision } from '../storage/revision.ts';
import { errorText } from '../util/error-text.ts';
import { hidePasswords } from '../util/hidden-passwords.ts';
import { persist, Rest } from '../util/pause.ts';
import type { NumberedDatabase } from './databases.ts';
import { type LeftCache, MovedRoutes } from './moved-routes.ts';

const AGAIN_MS = 1000;
const IDLE_MS = 3_600_000;

export interface ServerMovesParts<Backend> {
  readonly main: { readonly moves: Moves; readonly cache: LeftCache };
  /** The databases of --kvstore-servers-overrides. */
  readonly others: readonly NumberedDatabase[];
  readonly logger: Logger;
  open(resource: GroupResource, urls: readonly string[]): NumberedDatabase;
  /** Begins to follow a database, for reads alone. */
  follow(database: NumberedDatabase): Backend;
  /** Ends that, and closes the database. */
  end(backend: Backend): Promise<void>;
  /** Whether all its objects were read. */
  isLoaded(backend: Backend): boolean;
  /** Resolves when this revision is applied. From then on the database is kept as the others are. @throws StorageError */
  serve(backend: Backend, resource: GroupResource, since: Revision): Promise<void>;
}

/** A database that is followed before its resource has moved, and the attempt at the copy that was read. */
interface Followed<Backend> {
  readonly backend: Backend;
  readonly attempt: number;
}

/**
 * ServerMoves takes this server's part in the moves of resources to databases of their own (storage/postgres/moving/move.ts), and opens
 * these databases. While a resource is being copied, its new database is followed already, so that requests wait for it but for a
 * moment.
 */
export class ServerMoves<Backend> {
  readonly routes: MovedRoutes<Backend>;
  readonly #parts: ServerMovesParts<Backend>;
  readonly #databases = new Map<string, Promise<NumberedDatabase>>();
  readonly #followed = new Map<string, Followed<Backend>>();
  /** Moves that this server has yet to report on. */
  readonly #toReport = new Map<string, Move>();
  readonly #rest = new Rest();
  readonly #stop = new AbortController();

  constructor(parts: ServerMovesParts<Backend>) {
    this.#parts = parts;
    this.routes = new MovedRoutes({
      cache: parts.main.cache,
      isApart: (resource) => this.#isFlagged(resource),
      open: (move, cut) => this.#open(move, cut),
      onMove: (move) => this.#follows(move),
    });
  }

  /** @throws Error while a resource cannot be served */
  assertOpen(): void {
    this.routes.assertOpen(this.#parts.isLoaded);
  }

  /**
   * Makes sure that the flag names the databases to which resources were moved, and none to which they are only being copied.
   * @throws Error with a message of one line
   */
  async assertFlags(): Promise<void> {
    for (const { resources = [], log } of this.#parts.others) {
      const arrival = await log.moves.arrival();
      for (const resource of resources) this.#assertFlag(resource, arrival);
    }
  }

  #assertFlag(resource: GroupResource, arrival: Arrival | undefined): void {
    const move = this.routes.moveOf(resource);
    const hasMoved = move?.phase === 'Moved';
    if (hasMoved ? arrival?.move === move.id : arrival?.isComplete !== false) return;
    const why = hasMoved
      ? 'was moved to another database than the flag names: leave it out, and the server finds that'
      : 'is still being copied to this database: leave it out until `pg-apiserver move` has ended';
    throw new Error(`${storageFlags.overrides.shown}: ${toQualifiedResource(resource)} ${why}`);
  }

  /** Reports to the command that moves a resource. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const move of this.#toReport.values()) await this.#report(move);
      const mostMs = this.#toReport.size === 0 ? IDLE_MS : AGAIN_MS;
      await this.#rest.take({ leastMs: 0, mostMs }, signal);
    }
  }

  /** Ends what is being opened, and closes the databases that were opened. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('the server ends'));
    for (const move of this.#followed.keys()) await this.#unfollow(move);
  }

  #follows(move: Move): void {
    if (move.phase === 'Cancelled') {
      this.#toReport.delete(move.id);
      void this.#unfollow(move.id);
    } else {
      this.#toReport.set(move.id, move);
      this.#rest.cutShort();
    }
  }

  async #open(move: Move, cut: Revision): Promise<Backend> {
    const { logger, serve } = this.#parts;
    const name = toQualifiedResource(move.resource);
    return persist(
      async () => {
        const { log } = await this.#databaseOf(move);
        const backend = await this.#follow(move, await log.moves.arrive(move.id, cut));
        await serve(backend, move.resource, cut);
        logger.info(0, 'a resource is in a database of its own', { resource: name, since: String(cut) });
        return backend;
      },
      {
        signal: this.#stop.signal,
        isPassing: () => true,
        onFailure: (error) =>
          logger.warn('the database to which a resource was moved cannot be opened', {
            resource: name,
            reason: hidePasswords(errorText(error)),
          }),
      },
    );
  }

  async #follow(move: Move, attempt: number): Promise<Backend> {
    for (;;) {
      const known = this.#followed.get(move.id);
      if (known?.attempt === attempt) return known.backend;
      if (known !== undefined) await this.#unfollow(move.id);
      const database = await this.#databaseOf(move);
      if (!this.#followed.has(move.id))
        this.#followed.set(move.id, { backend: this.#parts.follow(database), attempt });
    }
  }

  async #unfollow(move: string): Promise<void> {
    const known = this.#followed.get(move);
    this.#followed.delete(move);
    this.#databases.delete(move);
    if (known !== undefined) await this.#parts.end(known.backend);
  }

  #databaseOf({ id, resource }: Move): Promise<NumberedDatabase> {
    const known = this.#databases.get(id);
    if (known !== undefined) return known;
    const database = this.#parts.main.moves.targetOf(id).then((urls) => {
      if (urls === undefined) throw new Error('the move was cancelled');
      return this.#parts.open(resource, urls);
    });
    this.#databases.set(id, database);
    database.catch(() => this.#databases.delete(id));
    return database;
  }

  async #report(move: Move): Promise<void> {
    const { moves } = this.#parts.main;
    try {
      const trouble = await this.#troubleOf(move);
      const { resource } = move;
      const isOpen = this.#isFlagged(resource) || this.routes.presentOf(resource) !== undefined;
      const isMoved = move.phase === 'Moved' && isOpen;
      const isDone = await moves.report(move.id, { trouble, isMoved });
      const isLast = trouble === '' && isMoved === (move.phase === 'Moved');
      if (isDone && isLast && this.#toReport.get(move.id) === move) this.#toReport.delete(move.id);
    } catch (error) {
      this.#parts.logger.info(2, 'a move could not be reported', { reason: errorText(error) });
    }
  }

  /** Returns why this server cannot use the new database; '' when it can. */
  async #troubleOf(move: Move): Promise<string> {
    if (this.#isFlagged(move.resource))
      return move.phase === 'Moved'
        ? ''
        : `it is started with ${storageFlags.overrides.shown} for this resource`;
    try {
      const { log } = await this.#databaseOf(move);
      const arrival = await log.moves.arrival();
      if (arrival?.move !== move.id || !arrival.isCopied) return 'the new database is not ready';
      if (move.phase === 'Moved') return '';
      return this.#parts.isLoaded(await this.#follow(move, arrival.attempt))
        ? ''
        : 'it reads the new database';
    } catch (error) {
      return hidePasswords(errorText(error));
    }
  }

  #isFlagged({ group, resource }: GroupResource): boolean {
    return this.#parts.others.some(({ resources = [] }) =>
      resources.some((one) => one.group === group && one.resource === resource),
    );
  }
}
