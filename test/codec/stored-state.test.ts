import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { parseStored, toStoredJson } from '../../src/codec/stored-object.ts';
import { StoredState } from '../../src/codec/stored-state.ts';
import { changesBetween } from '../../src/history/changes.ts';
import { atOnce } from '../../src/util/turns.ts';
import { states } from '../history/changed-objects.ts';
import { cases } from '../kit/cases.ts';

const bytesOf = (object: unknown): Buffer => Buffer.from(JSON.stringify(object));

/** As the server keeps it, with managers in one of several places. */
function stored(object: JsonObject, managers: number): Buffer {
  const { metadata, ...rest } = object;
  const managedFields = Array.from({ length: managers }, (_, at) => ({
    manager: `m${at}`,
    fieldsV1: { 'f:spec': { 'k:{"name":"}]},"}': {} } },
  }));
  const kept = managers === 0 ? metadata : { ...(metadata as JsonObject), managedFields };
  return toStoredJson({ kind: 'Thing', apiVersion: 'v1', metadata: kept, ...rest } as unknown as ApiObject);
}

function changes(before: Buffer, after: Buffer) {
  const [was, becomes] = StoredState.pair(before, after);
  const names = was.differing(becomes);
  return atOnce(changesBetween(was.pick(names), becomes.pick(names)));
}

const whole = (before: Buffer, after: Buffer) =>
  atOnce(changesBetween(parseStored(before), parseStored(after)));

test('of any two states, what is parsed of them has the changes that they have', () => {
  const managers = fc.tuple(fc.nat(2), fc.nat(2));
  fc.assert(
    fc.property(states, managers, ([one, other], [of, ofOther]) => {
      const [before, after] = [stored(one, of), stored(other, ofOther)];
      expect(changes(before, after)).toEqual(whole(before, after));
      expect(changes(after, after).changes).toEqual([]);
      const again = Buffer.from(before);
      expect(StoredState.of(again, StoredState.of(after)).object).toEqual(
        StoredState.of(Buffer.from(before)).object,
      );
    }),
    { numRuns: cases(1000) },
  );
});

test.each([
  ['first in metadata', '{"kind":"A","metadata":{"managedFields":[{"a":"]}"}],"name":"x"},"spec":1}'],
  ['last in metadata', '{"kind":"A","metadata":{"name":"x","managedFields":[]},"spec":1}'],
  ['between others', '{"kind":"A","metadata":{"name":"x","managedFields":[],"uid":"u"},"spec":1}'],
  ['alone in metadata', '{"kind":"A","metadata":{"managedFields":[{}]},"spec":1}'],
  ['only in the spec', '{"kind":"A","metadata":{"name":"x"},"spec":{"metadata":{"managedFields":[1]}}}'],
  ['after an odd name', '{"kind":"A","metadata":{"\\"managedFields\\":[{":"x","managedFields":[1]},"a":{}}'],
  ['with spaces', '{ "kind": "A", "metadata": { "name": "x", "managedFields": [1] }, "spec": 1 }\n'],
  ['twice the same field', '{"kind":"A","metadata":{},"spec":1,"spec":2}'],
  ['an escaped name', '{"kind":"A","metadata":{},"sp\\u0065c":1,"__proto__":{"a":1}}'],
  [
    'long integers',
    '{"kind":"A","metadata":{"managedFields":[]},"n":9007199254740993,"s":{"m":-9007199254740995}}',
  ],
  ['no metadata', '{"kind":"A","list":[1,2],"text":"a\\\\","end":null}'],
])('an object is what it is without metadata.managedFields: %s', (_, text) => {
  const object = parseStored(Buffer.from(text)) as unknown as { metadata?: JsonObject };
  if (object.metadata !== undefined) delete object.metadata.managedFields;
  expect(StoredState.of(Buffer.from(text)).object).toEqual(object);
  expect(Object.keys(StoredState.of(Buffer.from(text)).object)).toEqual(Object.keys(object));
});

test('what two states have in common is not looked at, but for the field that they begin with', () => {
  const [one, other] = [
    { kind: 'A', metadata: {}, spec: { a: 1 }, status: 1 },
    { kind: 'A', metadata: {}, spec: { a: 1 } },
  ];
  const [was, becomes] = [StoredState.of(bytesOf(one)), StoredState.of(bytesOf(other))];
  const names = was.differing(becomes);
  expect([...(names ?? [])]).toEqual(['status']);
  expect([was.pick(names), becomes.pick(names)]).toEqual([{ kind: 'A', status: 1 }, { kind: 'A' }]);
});

test.each([
  ['{"kind":"A","n":1}', '{"kind":"A","n":12}'],
  ['{"kind":"A","n":1,"m":2}', '{"kind":"A","n":1}'],
  ['{"kind":"A","n":"x"}', '{"kind":"A","n":"x\\"}"}'],
  ['{"kind":"A","l":[1],"m":{}}', '{"kind":"AA","l":[1],"m":{}}'],
])('what begins alike is no more alike than it is: %s, %s', (one, other) => {
  const [was, becomes] = StoredState.pair(Buffer.from(one), Buffer.from(other));
  expect([was.object, becomes.object]).toEqual([JSON.parse(one), JSON.parse(other)]);
  const [becoming, been] = StoredState.pair(Buffer.from(other), Buffer.from(one));
  expect([becoming.object, been.object]).toEqual([JSON.parse(other), JSON.parse(one)]);
});
