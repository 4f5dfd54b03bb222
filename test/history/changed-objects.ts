import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import type { FieldChange } from '../../src/history/changes.ts';
import { hasParts, isWithin, keysOf, partsOf, rootOf } from '../../src/history/field-paths.ts';
import { isObject } from '../../src/object/json-values.ts';
import { atOnce } from '../../src/util/turns.ts';

/** Objects as people write them, with what is hard about them: odd names, lists with and without keys, values of another type. */

const name = fc.constantFrom(
  'a',
  'b',
  'name',
  'type',
  'port',
  'protocol',
  'a.example/b',
  'x"y',
  '0',
  'é',
  '',
);
const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom('', 'x', 'y', '1', 'a.b', 'c]d', 'é\n'),
  fc.integer({ min: -3, max: 3 }),
  fc.boolean(),
  fc.constant(null),
);
const key = fc.constantFrom<JsonValue>('web', 'db', 'side', 80, 443);

const element = (value: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonObject> =>
  fc.oneof(
    fc.record({ name: key, image: value }),
    fc.record(
      { port: key, protocol: fc.constantFrom('TCP', 'UDP'), name: scalar },
      { requiredKeys: ['port', 'protocol'] },
    ),
    fc.dictionary(name, value, { maxKeys: 3 }),
  );

const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.dictionary(name, tie('value'), { maxKeys: 4 }),
    fc.array(element(tie('value')), { maxLength: 4 }),
    fc.array(scalar, { maxLength: 3 }),
  ),
}));

const object: fc.Arbitrary<JsonObject> = fc.record({
  kind: fc.constant('Thing'),
  metadata: fc.dictionary(name, value, { maxKeys: 2 }),
  spec: value,
  list: fc.array(element(value), { maxLength: 4 }),
});

/** Most of two states is the same. */
export const states: fc.Arbitrary<readonly [JsonObject, JsonObject]> = fc
  .tuple(object, object, fc.boolean(), fc.boolean())
  .map(([one, other, spec, list]) => [
    one,
    { ...other, ...(spec ? { spec: one.spec ?? null } : {}), ...(list ? { list: one.list ?? [] } : {}) },
  ]);

/** What the changes make of a state. `after` only says by which keys a list was compared; elements with keys come in any order. */
export function applied(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  changes: readonly FieldChange[],
  path = '',
): JsonValue | undefined {
  const whole = changes.find((change) => change.path === path);
  if (whole !== undefined) return whole.new;
  if (!hasParts(before) || !hasParts(after)) return before;
  const keys =
    Array.isArray(before) && Array.isArray(after) ? atOnce(keysOf([before, after], undefined)) : undefined;
  const was = atOnce(partsOf(path, rootOf(before, undefined), keys));
  const becomes = atOnce(partsOf(path, rootOf(after, undefined), keys));
  const made = new Map(
    [...was].map(([at, { value: old }]) => [at, applied(old, becomes.get(at)?.value, changes, at)]),
  );
  for (const { path: at, old, new: added } of changes)
    if (old === undefined && !was.has(at) && isPartOf(at, path)) made.set(at, added);
  const kept = [...made].flatMap(([at, one]) => (one === undefined ? [] : [[at, one] as const]));
  if (Array.isArray(before)) return kept.map(([, one]) => one);
  return Object.fromEntries(kept.map(([at, one]) => [nameIn(at, path), one]));
}

function isPartOf(path: string, parent: string): boolean {
  if (!isWithin(path, parent) || path === parent) return false;
  const rest = path.slice(parent.length);
  return (
    /^\.?[A-Za-z_][A-Za-z0-9_-]*$/.test(rest) ||
    (rest.startsWith('[') && rest.endsWith(']') && isOneStep(rest))
  );
}

/** The values of keys have no bracket but in `c]d`. */
const isOneStep = (step: string): boolean =>
  step.replaceAll('c]d', '').indexOf(']') === step.replaceAll('c]d', '').length - 1;

const nameIn = (path: string, parent: string): string => {
  const rest = path.slice(parent.length);
  return rest.startsWith('[') ? (JSON.parse(rest.slice(1, -1)) as string) : rest.replace(/^\./, '');
};

/** With the elements of lists in one order, for every order of theirs. */
export function inOneOrder(given: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(given)) {
    const elements = given.map((one) => inOneOrder(one) ?? null);
    return given.every(isObject)
      ? elements.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
      : elements;
  }
  if (!isObject(given)) return given;
  const fields = Object.entries(given).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([at, one]) => [at, inOneOrder(one) ?? null]));
}
