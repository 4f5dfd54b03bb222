import { expect, test } from 'vitest';
import { KnownSets } from '../../../src/object/managed-fields/owners.ts';

const TEXT = '{"f:spec":{".":{},"f:replicas":{}}}';

function crowd(sets: KnownSets, from: number): void {
  for (let turn = from; turn < from + 2000; turn += 1) sets.parse(`{"f:${turn}${'x'.repeat(500)}":{}}`);
}

test('a set that is remembered is one, has its text, and cannot be changed', () => {
  const sets = new KnownSets();
  const set = sets.parse(`${TEXT} `.trimEnd());
  expect(set).toStrictEqual(JSON.parse(TEXT));
  expect(sets.parse(TEXT)).toBe(set);
  expect(sets.textOf(set)).toBe(TEXT);
  expect(sets.textOf(JSON.parse(TEXT) as object)).toBeUndefined();
  expect(() => Object.assign(set['f:spec'] ?? {}, { 'f:paused': {} })).toThrow(TypeError);
});

test('many sets that come once do not drive out those that are there, and are read all the same', () => {
  const sets = new KnownSets(() => 0);
  const set = sets.parse(TEXT);
  crowd(sets, 0);
  expect(sets.parse(TEXT)).toBe(set);
  const late = '{"f:late":{}}';
  expect(sets.parse(late)).toStrictEqual(JSON.parse(late));
  expect(sets.parse(late)).not.toBe(sets.parse(late));
});

test('a set that is used stays, and one that is not is forgotten while as much again comes in twice', () => {
  let now = 0;
  const sets = new KnownSets(() => now);
  const [used, unused] = [sets.parse(TEXT), sets.parse('{"f:data":{}}')];
  for (const turn of [1, 2, 3]) {
    crowd(sets, turn * 10_000);
    expect(sets.parse(TEXT)).toBe(used);
    now += 60_000;
  }
  expect(sets.parse('{"f:data":{}}')).not.toBe(unused);
});

test('what is no JSON is refused, and what is no object is not remembered', () => {
  const sets = new KnownSets();
  expect(() => sets.parse('{"f:spec":')).toThrow(SyntaxError);
  expect(() => sets.parse('null')).toThrow(TypeError);
});
