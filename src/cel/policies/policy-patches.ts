import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { entriesOf, isMap } from '../cel-equality.ts';
import { toJson } from '../cel-to-json.ts';
import { JSON_PATCH, OBJECT } from '../libraries/patch-types.ts';
import { CelMessage } from '../messages.ts';

/** Values of mutations as JSON (Kubernetes: admission/plugin/policy/mutating/patch). */

/** @throws Error when it is no `Object`, or one whose parts have types that do not fit their fields */
export function toApplyConfiguration(value: unknown): JsonObject {
  if (!(value instanceof CelMessage) || value.type.name !== OBJECT)
    throw new Error('unsupported return type from ApplyConfiguration expression');
  mustMatchPaths(value);
  return objectOf(value);
}

function objectOf({ fields }: CelMessage): JsonObject {
  return Object.fromEntries([...fields].map(([name, value]) => [name, toJson(value)]));
}

/** The operations of a JSON patch. @throws Error when it is no list of `JSONPatch`, or has a value that JSON lacks */
export function toJsonPatch(value: unknown): JsonValue[] {
  if (!Array.isArray(value))
    throw new Error('type mismatch: JSONPatchType.expression should evaluate to array');
  return value.map(toOperation);
}

function toOperation(operation: unknown): JsonValue {
  if (!(operation instanceof CelMessage) || operation.type.name !== JSON_PATCH)
    throw new Error('type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch');
  const from = String(operation.get('from'));
  const value = operation.get('value');
  if (value instanceof CelMessage) mustMatchPaths(value);
  return {
    op: String(operation.get('op')),
    path: String(operation.get('path')),
    ...(from === '' ? {} : { from }),
    ...(value === undefined ? {} : { value: toJson(value) }),
  };
}

/** @throws Error that names all types which are not those of their places */
function mustMatchPaths(root: CelMessage): void {
  const problems = misplaced(root, root.type.name);
  if (problems.length > 0) throw new Error(`type mismatch: ${problems.join('\n')}`);
}

/** Lists and maps have no part in a path. */
function misplaced(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => misplaced(item, path));
  if (!(value instanceof CelMessage))
    return isMap(value) ? [...entriesOf(value)].flatMap(([, item]) => misplaced(item, path)) : [];
  const { name } = value.type;
  const below = [...value.fields].flatMap(([field, inner]) => misplaced(inner, `${path}.${field}`));
  if (name === path) return below;
  const why = `unexpected type name ${JSON.stringify(name)}, expected ${JSON.stringify(path)}, which matches field name path from root Object type`;
  return [why, ...below];
}
