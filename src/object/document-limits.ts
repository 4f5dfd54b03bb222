import type { JsonValue } from '../api/object-meta.ts';
import { StatusError } from '../api/status.ts';

/**
 * What a document from outside may be, whatever form it comes in: JSON, YAML, protobuf, JSON inside of protobuf or of an
 * annotation, and what a patch makes of an object. Every later step recurses as deep as a document and works as often as it
 * has values, so that these two numbers bound them all.
 */

/** Deeper documents are refused, as Kubernetes' decoder does. */
export const MAX_DEPTH = 512;

/**
 * Members and items, and the objects and lists that have some. The largest custom resource definitions have 20,000, and what
 * etcd could store, 1.5 MB, has so many only where the average value takes less than 30 bytes, its name included. The longest
 * JSON patch that Kubernetes admits, 10,000 operations, has 50,001. Each takes 4 µs on its way into storage, most of them for
 * who owns it.
 */
export const MAX_VALUES = 51_000;

/** What is said of one document (Kubernetes: sigs.k8s.io/json lists as many strict errors). */
export const MAX_PROBLEMS = 100;

/** A path in a problem is cut behind these: its keys are the client's. */
const MAX_PATH_CHARS = 1024;

/** Told apart because its words are for the client, unlike those of parsers. */
export class TooDeep extends SyntaxError {}

export const tooDeep = (): TooDeep => new TooDeep(`exceeded max depth of ${MAX_DEPTH}`);

export const tooManyValues = (): StatusError =>
  new StatusError({
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: `Request entity too large: a document may have ${MAX_VALUES} values`,
  });

/**
 * For values that were not read by a scan that counts. `depth`: how deep the value itself stands.
 * @throws SyntaxError, StatusError 413
 */
export function assertWithinLimits(value: JsonValue | undefined, depth = 0): void {
  count(value, depth, MAX_VALUES);
}

/** @throws SyntaxError */
export function assertDepth(value: JsonValue | undefined): void {
  count(value, 0, Number.POSITIVE_INFINITY);
}

/** How many more values there may be. */
function count(value: JsonValue | undefined, depth: number, before: number): number {
  if (typeof value !== 'object' || value === null) return before;
  if (depth >= MAX_DEPTH) throw tooDeep();
  let left = before;
  if (Array.isArray(value)) {
    for (const item of value) left = count(item, depth + 1, spend(left));
  } else for (const key in value) left = count(value[key], depth + 1, spend(left));
  return left === before ? left : spend(left);
}

function spend(left: number): number {
  if (left <= 0) throw tooManyValues();
  return left - 1;
}

/** A path and what follows it, but no longer than anybody reads. */
export function joinPath(path: string, next: string): string {
  if (path.length >= MAX_PATH_CHARS) return path;
  const room = MAX_PATH_CHARS - path.length;
  return next.length <= room ? path + next : `${path}${next.slice(0, room)}...`;
}
