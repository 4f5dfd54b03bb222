import { parseFieldSelector, requiredValue } from '../object/selectors.ts';
import type { ResourceTarget } from '../request/api-request.ts';
import type { FlowRequest } from './flow-control.ts';
import type { FlowRecorder } from './metrics.ts';

/** What a request is expected to cost. A seat is one request's share of the server; wide requests need several. */
export interface Work {
  /** Seats while the request runs. */
  readonly initialSeats: number;
  /** Seats for what goes on after it was answered (events to watchers), for `extraMs`. */
  readonly finalSeats: number;
  readonly extraMs: number;
}

export const seatsOf = ({ initialSeats, finalSeats }: Work): number => Math.max(initialSeats, finalSeats);

export const plainWork = (initialSeats: number): Work => ({ initialSeats, finalSeats: 0, extraMs: 0 });

const MIN_SEATS = 1;
/** No request is counted as wider: while a wide one waits for its seats, the free ones are of no use to anybody. */
export const MAX_SEATS = 10;

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
interface Destination {
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

/**
 * How many watches will be told of a write. Watches of the pods of one node are not counted: every node has one, a pod
 * concerns a single one of them, and which one is not known before the object is read.
 */
export class WatchCounts {
  readonly #counts = new Map<string, number>();

  /** Answers the way to forget the watch. */
  register({ target, query }: FlowRequest): () => void {
    if (target === undefined || (target.resource === 'pods' && isOfOneNode(query))) return () => {};
    const key = keyOf(target, target.namespace, target.name);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    return () => {
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left === 0) this.#counts.delete(key);
      else this.#counts.set(key, left);
    };
  }

  interestedIn(target: ResourceTarget): number {
    if (this.#counts.size === 0) return 0;
    const { namespace, name } = target;
    let count = this.#counts.get(keyOf(target, '', '')) ?? 0;
    if (namespace !== '') count += this.#counts.get(keyOf(target, namespace, '')) ?? 0;
    if (name !== '') count += this.#counts.get(keyOf(target, namespace, name)) ?? 0;
    return count;
  }
}

const keyOf = ({ group, resource }: ResourceTarget, namespace: string, name: string): string =>
  `${group}/${resource}/${namespace}/${name}`;

function isOfOneNode(query: URLSearchParams): boolean {
  const selector = query.get('fieldSelector');
  if (selector === null) return false;
  try {
    return (requiredValue(parseFieldSelector(selector), 'spec.nodeName') ?? '') !== '';
  } catch {
    // What cannot be read is answered with an error later on.
    return false;
  }
}
