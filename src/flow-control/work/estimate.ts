import type { ResourceTarget } from '../../request/api-request.ts';
import type { FlowRequest } from '../flow-control.ts';
import type { FlowRecorder } from '../metrics.ts';
import { MIN_SEATS, plainWork, type Work } from './work.ts';

/** How much one seat does (Kubernetes: the same figures). */
const OBJECTS_PER_SEAT = 100;
const WATCHES_PER_SEAT = 10;
/** For how long a seat is busy with telling its watches of one write. */
const EVENT_MS = 5;

export interface Surroundings {
  /** Objects of a resource in all namespaces; undefined when it is not kept here. */
  countObjects(target: ResourceTarget): number | undefined;
  countWatches(target: ResourceTarget): number;
  /** Feature gate WatchList: a watch may begin with the whole list. */
  readonly watchList: boolean;
}

/** Made once: one small object a request adds up. */
const LEAST = plainWork(MIN_SEATS);

/** Where the request goes. */
export interface Destination {
  /** The most seats it may take there. */
  readonly widest: number;
  readonly recorder: Pick<FlowRecorder, 'watchers'>;
}

/** What a request will cost, from what can be known without reading anything. */
export function estimateWork(request: FlowRequest, to: Destination, around: Surroundings): Work {
  const { verb, target, query } = request;
  if (target === undefined) return LEAST;
  switch (verb) {
    case 'list':
      return estimateList(target, query, to.widest, around);
    case 'watch':
      return around.watchList && isTrue(query.get('sendInitialEvents'))
        ? estimateList(target, query, to.widest, around)
        : LEAST;
    case 'create':
    case 'update':
    case 'patch':
    case 'delete':
      return estimateWrite(target, to, around);
    default:
      return LEAST;
  }
}

const isTrue = (value: string | null): boolean =>
  value !== null && value !== '0' && value.toLowerCase() !== 'false';

function estimateList(
  target: ResourceTarget,
  query: URLSearchParams,
  widest: number,
  around: Surroundings,
): Work {
  // One object by its name is a get.
  if (target.name !== '') return LEAST;
  const stored = around.countObjects(target);
  if (stored === undefined) return LEAST;
  const seats = Math.ceil(countProcessed(query, stored) / OBJECTS_PER_SEAT);
  return plainWork(Math.min(Math.max(seats, MIN_SEATS), widest));
}

/**
 * Objects that are looked at for the answer. Memory gives a chunk without looking at the rest, but has to look for what a
 * selector selects. The later chunks of a list come from an earlier state, which may have to be read and then decoded.
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
  if (has(query, 'continue')) return true;
  if (match !== '') return match !== 'NotOlderThan';
  return limit > 0 && has(query, 'resourceVersion') && query.get('resourceVersion') !== '0';
}

const has = (query: URLSearchParams, name: string): boolean => (query.get(name) ?? '') !== '';

/** A write is small itself; what it sets off is not, when many watch. That part is worked off after the answer. */
function estimateWrite(target: ResourceTarget, to: Destination, around: Surroundings): Work {
  // A token is no object that anybody watches.
  if (target.resource === 'serviceaccounts' && target.subresource === 'token') return LEAST;
  const watches = around.countWatches(target);
  to.recorder.watchers(watches);
  if (watches < WATCHES_PER_SEAT) return LEAST;
  const seats = Math.ceil(watches / WATCHES_PER_SEAT);
  const finalSeats = Math.min(seats, to.widest);
  // The same area: fewer seats are kept for longer.
  return { initialSeats: MIN_SEATS, finalSeats, extraMs: (seats * EVENT_MS) / finalSeats };
}
