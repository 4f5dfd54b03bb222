import type { JsonObject } from '../api/object-meta.ts';
import type { MessageSchema } from '../api/schema.ts';
import type { FieldError } from '../api/status.ts';
import { equal } from './equality.ts';
import { type FieldPath, problemsOf } from './field-path.ts';
import { valueAt } from './parts.ts';

/** Errors for changed fields that the IDL calls immutable. */
export function validateImmutable(object: JsonObject, old: JsonObject, schema: MessageSchema): FieldError[] {
  const paths = immutablePaths(schema);
  if (paths.length === 0) return [];
  return problemsOf((root) => {
    for (const path of paths) {
      const value = valueAt(object, path) ?? null;
      if (!equal(value, valueAt(old, path) ?? null)) fieldAt(root, path).invalid(value, 'field is immutable');
    }
  });
}

type Path = readonly string[];

const known = new WeakMap<MessageSchema, readonly Path[]>();

function immutablePaths(schema: MessageSchema): readonly Path[] {
  let paths = known.get(schema);
  if (paths === undefined) {
    paths = pathsIn(schema, [], [schema]);
    known.set(schema, paths);
  }
  return paths;
}

/** In the order of the type. `seen`: types on the way here, because some hold themselves. */
function pathsIn(schema: MessageSchema, path: Path, seen: readonly MessageSchema[]): Path[] {
  return [...schema.fields.values()].flatMap(({ name, value, immutable }) => {
    const here = [...path, name];
    if (immutable) return [here];
    if (value.kind !== 'message' || seen.includes(value.message)) return [];
    return pathsIn(value.message, here, [...seen, value.message]);
  });
}

const fieldAt = (root: FieldPath, path: Path): FieldPath => path.reduce((at, name) => at.field(name), root);
