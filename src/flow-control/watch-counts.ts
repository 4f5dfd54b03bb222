import { parseFieldSelector, requiredValue } from '../object/selectors.ts';
import type { ResourceTarget } from '../request/api-request.ts';
import type { FlowRequest } from './flow-control.ts';

/**
 * WatchCounts knows how many watches get the event of a write, those of all threads. Watches of one node's pods are not counted: every node
 * has one, a pod concerns only one of them, and which one is unknown before the object is read.
 *
 * Each thread has a row of counters in memory that all threads see, and a watch counts in the cell that the hash of its scope names. Two
 * scopes may share a cell, so that a count is at least the right one: 10,000 watches of single objects add less than one to others.
 */
export class WatchCounts {
  readonly #cells: Int32Array;
  readonly #begin: number;

  /** Returns memory for the main thread and `threads` others. */
  static allocate(threads: number): SharedArrayBuffer {
    return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * (threads + 1) * ROW_CELLS);
  }

  /** `row`: 0 for the main thread. */
  constructor(memory: SharedArrayBuffer, row: number) {
    this.#cells = new Int32Array(memory);
    this.#begin = row * ROW_CELLS;
  }

  /** Returns a function that removes the watch. */
  register({ target, query }: FlowRequest): () => void {
    if (target === undefined || (target.resource === 'pods' && isOfOneNode(query))) return () => {};
    const cell = this.#begin + cellOf(target, target.namespace, target.name);
    Atomics.add(this.#cells, cell, 1);
    return () => void Atomics.sub(this.#cells, cell, 1);
  }

  interestedIn(target: ResourceTarget): number {
    const { namespace, name } = target;
    let count = this.#sum(cellOf(target, '', ''));
    if (namespace !== '') count += this.#sum(cellOf(target, namespace, ''));
    if (name !== '') count += this.#sum(cellOf(target, namespace, name));
    return count;
  }

  /** Forgets the watches of a thread that no longer runs. */
  clear(row: number): void {
    for (let at = row * ROW_CELLS; at < (row + 1) * ROW_CELLS; at += 1) Atomics.store(this.#cells, at, 0);
  }

  #sum(cell: number): number {
    let sum = 0;
    for (let at = cell; at < this.#cells.length; at += ROW_CELLS) sum += Atomics.load(this.#cells, at);
    return sum;
  }
}

/** A power of two. */
const ROW_CELLS = 16_384;

/** FNV-1a over the parts of a scope. */
function cellOf({ group, resource }: ResourceTarget, namespace: string, name: string): number {
  let hash = 0x811c9dc5;
  for (const part of [group, resource, namespace, name]) {
    for (let at = 0; at < part.length; at += 1) hash = Math.imul(hash ^ part.charCodeAt(at), 0x01000193);
    hash = Math.imul(hash ^ SEPARATOR, 0x01000193);
  }
  return (hash ^ (hash >>> 14)) & (ROW_CELLS - 1);
}

/** The character code of a slash, which is in no name. */
const SEPARATOR = 0x2f;

function isOfOneNode(query: URLSearchParams): boolean {
  const selector = query.get('fieldSelector');
  if (selector === null) return false;
  try {
    return (requiredValue(parseFieldSelector(selector), 'spec.nodeName') ?? '') !== '';
  } catch {
    // An invalid selector is answered with an error later.
    return false;
  }
}
