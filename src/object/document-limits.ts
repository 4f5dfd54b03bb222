import type { JsonValue } from '../api/object-meta.ts';
import { StatusError } from '../api/status.ts';

/**
 * Limits of every document from outside: JSON, YAML, protobuf, JSON inside protobuf or an annotation, and the result of a
 * patch. Every later step recurses as deep as a document nests and works once for each value, so these two numbers bound
 * all of them.
 */

/** Deeper documents are refused, as Kubernetes' decoder does. */
export const MAX_DEPTH = 512;

/**
 * Counts members and items, and the objects and lists that are not empty. The largest custom resource definitions have
 * 20,000. A document of 1.5 MB, the most that etcd stores, has as many as this only where the average value takes less than
 * 30 bytes with its name. The longest JSON patch that Kubernetes admits, 10,000 operations, has 50,001. Each value takes 4 µs
 * on its way into storage, most of it to write down its owner.
 */
export const MAX_VALUES = 51_000;

/** Problems reported about one document (Kubernetes: sigs.k8s.io/json lists as many strict errors). */
export const MAX_PROBLEMS = 100;

/** Longer paths in problems are cut, because clients choose their keys. */
const MAX_PATH_CHARS = 1024;

/** A class of its own, because its message is for the client; the message of a parser is not. */
export class TooDeep extends SyntaxError {}

export const tooDeep = (): TooDeep => new TooDeep(`exceeded max depth of ${MAX_DEPTH}`);

export const tooManyValues = (): StatusError =>
  new StatusError({
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: `Request entity too large: a document may have ${MAX_VALUES} values`,
  });

/**
 * For values that no counting scan has read. `depth`: how deep the value itself stands.
 * @throws SyntaxError, StatusError 413
 */
export function assertWithinLimits(value: JsonValue | undefined, depth = 0): void {
  count(value, depth, MAX_VALUES);
}

/** @throws SyntaxError */
export function assertDepth(value: JsonValue | undefined): void {
  count(value, 0, Number.POSITIVE_INFINITY);
}

/** Returns how many more values are allowed. */
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

/** Appends to a path, up to {@link MAX_PATH_CHARS}. */
export function joinPath(path: string, next: string): string {
  if (path.length >= MAX_PATH_CHARS) return path;
  const room = MAX_PATH_CHARS - path.length;
  return next.length <= room ? path + next : `${path}${next.slice(0, room)}...`;
}
