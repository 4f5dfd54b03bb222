import type { ResourceTarget } from '../request/api-request.ts';
import type { FlowRequest } from './flow-control.ts';

/** The expected cost of a request. A seat is the share of one request in the server; wide requests need several. */
export interface Work {
  /** Seats while the request runs. */
  readonly initialSeats: number;
  /** Seats for the work after the answer (events to watchers), for `extraMs`. */
  readonly finalSeats: number;
  readonly extraMs: number;
  /** The watches that get the event of a write; undefined for other requests. */
  readonly watches?: number;
}

export const seatsOf = ({ initialSeats, finalSeats }: Work): number => Math.max(initialSeats, finalSeats);

export const plainWork = (initialSeats: number): Work => ({ initialSeats, finalSeats: 0, extraMs: 0 });

const MIN_SEATS = 1;
/** No request counts as wider, because free seats stay unused while a wide request waits for the rest of its seats. */
export const MAX_SEATS = 10;

/** Work that takes one seat (Kubernetes: the same figures). */
const OBJECTS_PER_SEAT = 100;
const WATCHES_PER_SEAT = 10;
/**
 * A restore writes up to 24 objects at a time. Their number is in its body, which is not read yet, so that each counts as
 * large.
 */
const RESTORE_SEATS = MAX_SEATS;
/**
 * Rows of the log that history reads, unless the request sets a limit: rows are read and compared. The rows that a blame or an
 * explanation needs are known only afterwards.
 */
const USUAL_ROWS: Readonly<Record<string, number>> = {
  revisions: 500,
  timelines: 500,
  why: 250,
  blames: 1000,
};
const ROWS_PER_SEAT = 50;
/** How long sending one write to its watches keeps a seat busy. */
const EVENT_MS = 5;

export interface Surroundings {
  /** Number of a resource's objects in all namespaces; undefined for a resource that is not stored here. */
  countObjects(target: ResourceTarget): number | undefined;
  countWatches(target: ResourceTarget): number;
  /** Feature gate WatchList: a watch may begin with the whole list. */
  readonly watchList: boolean;
}

/** Made once, because a small object for each request adds up. */
const LEAST = plainWork(MIN_SEATS);

/** Estimates the cost of a request without reading anything. `widest`: the most seats that one request may take at its level. */
export function estimateWork(request: FlowRequest, widest: number, around: Surroundings): Work {
  const { verb, target, query } = request;
  if (target === undefined) return LEAST;
  if (target.group === 'history.cluster.io' && isRead(verb, target))
    return estimateHistory(target, query, widest);
  switch (verb) {
    case 'list':
      return estimateList(target, query, widest, around);
    case 'watch':
      return around.watchList && isTrue(query.get('sendInitialEvents'))
        ? estimateList(target, query, widest, around)
        : LEAST;
    case 'create':
    case 'update':
    case 'patch':
    case 'delete':
      return estimateWrite(target, widest, around);
    default:
      return LEAST;
  }
}

/** A revision by its number is a row, and a watch of revisions one like any other. */
const isRead = (verb: string, { resource, subresource }: ResourceTarget): boolean =>
  verb === 'list' || (verb === 'get' && (resource !== 'revisions' || subresource !== ''));

function estimateHistory(
  { resource, subresource }: ResourceTarget,
  query: URLSearchParams,
  widest: number,
): Work {
  const usual = USUAL_ROWS[subresource === '' ? resource : subresource] ?? 0;
  const limit = Number(query.get('limit') ?? 0);
  const rows = resource !== 'blames' && limit > 0 ? Math.min(limit, usual) : usual;
  const seats = Math.ceil(rows / ROWS_PER_SEAT);
  return plainWork(Math.min(Math.max(seats, MIN_SEATS), MAX_SEATS, widest));
}

const isTrue = (value: string | null): boolean =>
  value !== null && value !== '0' && value.toLowerCase() !== 'false';

function estimateList(
  target: ResourceTarget,
  query: URLSearchParams,
  widest: number,
  around: Surroundings,
): Work {
  // A list of one object by its name costs as much as a get.
  if (target.name !== '') return LEAST;
  const stored = around.countObjects(target);
  if (stored === undefined) return LEAST;
  const seats = Math.ceil(countProcessed(query, stored) / OBJECTS_PER_SEAT);
  return plainWork(Math.min(Math.max(seats, MIN_SEATS), widest));
}

/**
 * The number of objects that the answer visits. Memory gives a chunk without visiting the rest, unless a selector must search.
 * The later chunks of a list come from an earlier state, which may have to be read and decoded.
 */
function countProcessed(query: URLSearchParams, stored: number): number {
  const limit = Number(query.get('limit') ?? 0);
  const chunk = limit > 0 && limit < stored ? limit : stored;
  const selected = has(query, 'labelSelector') || has(query, 'fieldSelector');
  if (!isOfThePast(query, limit)) return selected ? stored : chunk;
  return selected ? stored + chunk : 2 * chunk;
}

function isOfThePast(query: URLSearchParams, limit: number): boolean {
  const match = query.get('resourceVersionMatch') ?? '';
  if (has(query, 'continue') || has(query, 'asOf')) return true;
  if (match !== '') return match !== 'NotOlderThan';
  return limit > 0 && has(query, 'resourceVersion') && query.get('resourceVersion') !== '0';
}

const has = (query: URLSearchParams, name: string): boolean => (query.get(name) ?? '') !== '';

/** A write itself is cheap, but its events are not when many watch. They are sent after the answer. */
function estimateWrite(target: ResourceTarget, widest: number, around: Surroundings): Work {
  // Tokens have no watchers.
  if (target.resource === 'serviceaccounts' && target.subresource === 'token') return LEAST;
  if (target.resource === 'restores' && target.group === 'history.cluster.io')
    return plainWork(Math.min(RESTORE_SEATS, widest));
  const watches = around.countWatches(target);
  if (watches < WATCHES_PER_SEAT) return { ...LEAST, watches };
  const seats = Math.ceil(watches / WATCHES_PER_SEAT);
  const finalSeats = Math.min(seats, widest);
  // Fewer seats for a longer time make the same amount of work.
  return { initialSeats: MIN_SEATS, finalSeats, extraMs: (seats * EVENT_MS) / finalSeats, watches };
}
