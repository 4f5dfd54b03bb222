import type { JsonValue } from '../../api/object-meta.ts';
import { equal } from '../../object/equality.ts';
import { isObject } from '../../object/json-values.ts';

export interface Difference {
  /** `spec.replicas`; '' for the whole. */
  readonly path: string;
  readonly source: JsonValue | undefined;
  readonly target: JsonValue | undefined;
}

/** The least fields that differ. Lists of different lengths differ as a whole. */
export function* differencesOf(
  source: JsonValue | undefined,
  target: JsonValue | undefined,
  path = '',
): Generator<Difference> {
  if (equal(source, target)) return;
  if (isObject(source) && isObject(target)) {
    for (const key of new Set([...Object.keys(source), ...Object.keys(target)]))
      yield* differencesOf(source[key], target[key], path === '' ? key : `${path}.${key}`);
  } else if (Array.isArray(source) && Array.isArray(target) && source.length === target.length) {
    for (const [at, item] of source.entries()) yield* differencesOf(item, target[at], `${path}[${at}]`);
  } else yield { path, source, target };
}
