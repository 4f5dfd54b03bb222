import { type GroupResource, toQualifiedResource, toResourceKey } from '../api/names.ts';
import { StorageError } from '../storage/errors.ts';
import type { LogProgress } from '../storage/log-progress.ts';
import { MOVES, type Move, parseMove } from '../storage/moves.ts';
import type { Revision } from '../storage/revision.ts';
import type { Entry } from '../storage/store.ts';
import { inTime } from '../util/in-time.ts';

/** How long a request waits while this server opens the database of a resource that has moved. */
const OPENED_MS = 20_000;
/** A route that is not open by then makes the server unready. */
const UNREADY_MS = 5000;

/** The cache of the first database. */
export interface LeftCache extends Pick<LogProgress, 'follow'> {
  /** Returns the objects of a resource as applied, at once. */
  present(resource: GroupResource): Iterable<Entry>;
  /** Forgets a resource, whose watches then end as moved. */
  leave(resource: GroupResource): void;
}

interface MovedRoutesParts<Backend> {
  readonly cache: LeftCache;
  /** Whether the resource had a database of its own when this began. */
  isApart(resource: GroupResource): boolean;
  /** Opens the new database, and resolves when it shows the revision of the cut-over. Rejects only when this server ends. */
  open(move: Move, cut: Revision): Promise<Backend>;
  /** Called with each word of a move, after its route has changed. */
  onMove?(move: Move): void;
}

/** A route to a database that is being opened. */
interface Opening<Backend> {
  readonly sinceMs: number;
  readonly opened: Promise<Backend>;
}

/**
 * MovedRoutes leads to the databases to which resources have moved. It learns of moves from the log, in the turn in which the cache
 * applies a revision: a read that has waited for a revision after the cut-over finds the new route.
 */
export class MovedRoutes<Backend> {
  readonly #parts: MovedRoutesParts<Backend>;
  readonly #routes = new Map<string, Backend | Opening<Backend>>();
  /** The last word of each move. */
  readonly #known = new Map<string, Move>();

  constructor(parts: MovedRoutesParts<Backend>) {
    this.#parts = parts;
    const { cache } = parts;
    cache.follow({
      applied: (changes) => {
        for (const { key, json, revision } of changes)
          if (key.resource === MOVES.resource && key.group === MOVES.group) this.#learn(json, revision);
      },
      loaded: () => {
        for (const { json, revision } of cache.present(MOVES)) this.#learn(json, revision);
      },
      ended: () => {},
    });
  }

  /** Resources that have moved. */
  get resources(): readonly GroupResource[] {
    return [...this.#known.values()].filter(({ phase }) => phase === 'Moved').map(({ resource }) => resource);
  }

  /** Those databases that are open. */
  get open(): readonly Backend[] {
    return [...this.#routes.values()].flatMap((route) => (isOpening(route) ? [] : [route]));
  }

  moveOf(resource: GroupResource): Move | undefined {
    return this.#known.get(toResourceKey(resource));
  }

  /** Undefined: the resource has not moved. */
  routeOf(resource: GroupResource): Backend | Promise<Backend> | undefined {
    if (this.#routes.size === 0) return undefined;
    const route = this.#routes.get(toResourceKey(resource));
    return isOpening(route) ? openedInTime(route.opened, resource) : route;
  }

  /** As {@link routeOf}, but undefined also while the database is being opened. */
  presentOf(resource: GroupResource): Backend | undefined {
    const route = this.#routes.get(toResourceKey(resource));
    return isOpening(route) ? undefined : route;
  }

  /** Resolves when all databases that are known by now are open. */
  async ready(): Promise<void> {
    for (const route of this.#routes.values()) if (isOpening(route)) await route.opened;
  }

  /** `isLoaded`: whether all objects of a database were read. @throws Error while a resource cannot be served */
  assertOpen(isLoaded: (backend: Backend) => boolean): void {
    for (const [resource, route] of this.#routes) {
      const isLate = isOpening(route) && performance.now() - route.sinceMs > UNREADY_MS;
      if (isLate || !(isOpening(route) || isLoaded(route)))
        throw new Error(`the database to which ${resource} was moved is not open`);
    }
  }

  #learn(json: Buffer, revision: Revision): void {
    const move = parseMove(json);
    this.#known.set(toResourceKey(move.resource), move);
    if (move.phase === 'Moved') this.#cutOver(move, revision);
    this.#parts.onMove?.(move);
  }

  #cutOver(move: Move, cut: Revision): void {
    const { isApart, open, cache } = this.#parts;
    const key = toResourceKey(move.resource);
    if (isApart(move.resource) || this.#routes.has(key)) return;
    const opened = open(move, cut);
    opened.then(
      (backend) => this.#routes.set(key, backend),
      // Only the end of the server ends the attempts.
      () => {},
    );
    this.#routes.set(key, { sinceMs: performance.now(), opened });
    cache.leave(move.resource);
  }
}

function isOpening<Backend>(route: Backend | Opening<Backend> | undefined): route is Opening<Backend> {
  return typeof route === 'object' && route !== null && 'opened' in route;
}

/** @throws StorageError unavailable when it takes too long */
function openedInTime<Backend>(opened: Promise<Backend>, resource: GroupResource): Promise<Backend> {
  return inTime(opened, OPENED_MS, () => {
    const reason = `the database to which ${toQualifiedResource(resource)} was moved is not open`;
    throw new StorageError({ kind: 'unavailable', reason });
  });
}
