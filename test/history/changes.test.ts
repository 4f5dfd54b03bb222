import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { changesBetween, type FieldChange, leavesOf } from '../../src/history/changes.ts';
import { atOnce } from '../../src/util/turns.ts';
import { cases } from '../kit/cases.ts';
import { createTestDatabase } from '../postgres.ts';
import { applied, inOneOrder, states } from './changed-objects.ts';

const compare = (before: JsonObject | undefined, after: JsonObject | undefined): readonly FieldChange[] =>
  atOnce(changesBetween(before, after)).changes;

const pathsOf = (changes: readonly FieldChange[]): string[] => changes.map(({ path }) => path);

const pod = (containers: JsonObject[], more: JsonObject = {}): JsonObject => ({
  kind: 'Pod',
  metadata: { name: 'web', resourceVersion: '5', managedFields: [{ manager: 'x' }], ...more },
  spec: { containers },
});

test('a change is a path with its old and its new value', () => {
  const before = pod(
    [
      { name: 'web', image: 'web:1' },
      { name: 'side', image: 'side:1' },
    ],
    { labels: { a: '1', gone: 'x' } },
  );
  const after = pod([{ name: 'side', image: 'side:1' }, { name: 'web', image: 'web:2' }, { name: 'new' }], {
    resourceVersion: '6',
    managedFields: [],
    labels: { a: '1' },
    annotations: { 'a.example/b': 'c' },
  });
  expect(compare(before, after)).toEqual([
    { path: 'metadata.labels.gone', old: 'x', new: undefined },
    { path: 'metadata.annotations', old: undefined, new: { 'a.example/b': 'c' } },
    { path: 'spec.containers[name=web].image', old: 'web:1', new: 'web:2' },
    { path: 'spec.containers[name=new]', old: undefined, new: { name: 'new' } },
  ]);
});

test('what is created or deleted is one change, of the whole object without what changes at each write', () => {
  const { metadata: _, ...rest } = pod([]);
  const whole = { ...rest, metadata: { name: 'web' } };
  expect(compare(undefined, pod([]))).toEqual([{ path: '', old: undefined, new: whole }]);
  expect(compare(pod([]), undefined)).toEqual([{ path: '', old: whole, new: undefined }]);
  expect(compare(pod([]), pod([], { resourceVersion: '7' }))).toEqual([]);
});

test('lists whose elements nothing tells apart go by place, and those of plain values change as a whole', () => {
  expect(compare({ list: [{ a: 1 }, { a: 1 }] }, { list: [{ a: 1 }, { a: 2 }, { b: 1 }] })).toEqual([
    { path: 'list[1].a', old: 1, new: 2 },
    { path: 'list[2]', old: undefined, new: { b: 1 } },
  ]);
  expect(pathsOf(compare({ args: ['a', 'b'] }, { args: ['a', 'c'] }))).toEqual(['args']);
  expect(pathsOf(compare({ data: { 'a.b': '1', '': '2' } }, { data: { 'a.b': '2', '': '3' } }))).toEqual([
    'data["a.b"]',
    'data[""]',
  ]);
});

test('a list goes by the keys of its type where that has some', () => {
  const schema = { kind: 'message', message: loadTypes().message('core/v1.Service') } as const;
  const service = (nodePort: number): JsonObject => ({
    metadata: {},
    spec: { ports: [{ name: 'http', port: 80, protocol: 'TCP', nodePort }] },
  });
  const { changes } = atOnce(changesBetween(service(1), service(2), schema));
  expect(pathsOf(changes)).toEqual(['spec.ports[port=80,protocol=TCP].nodePort']);
  expect(pathsOf(compare(service(1), service(2)))).toEqual(['spec.ports[name=http].nodePort']);
});

test('no more changes are found than are asked for, and the result says that there are more', () => {
  const of = (value: number): JsonObject =>
    Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`f${at}`, value]));
  const { changes, isTruncated } = atOnce(changesBetween(of(1), of(2), undefined, 7));
  expect([changes.length, isTruncated]).toEqual([7, true]);
  expect(atOnce(changesBetween(of(1), of(2), undefined, 20)).isTruncated).toBe(false);
});

test('leaves are all fields without parts, in their order', () => {
  const leaves = atOnce(leavesOf(pod([{ name: 'web', env: [], args: ['a'] }])));
  expect(leaves).toEqual([
    { path: 'kind', value: 'Pod' },
    { path: 'metadata.name', value: 'web' },
    { path: 'spec.containers[name=web].name', value: 'web' },
    { path: 'spec.containers[name=web].env', value: [] },
    { path: 'spec.containers[name=web].args', value: ['a'] },
  ]);
});

test('the changes make the new state of the old one, for all objects', () => {
  fc.assert(
    fc.property(states, ([before, after]) => {
      const changes = compare(before, after);
      expect(inOneOrder(applied(before, after, changes))).toEqual(inOneOrder(after));
      expect(compare(after, after)).toEqual([]);
    }),
    { numRuns: cases(1000) },
  );
});

const sorted = (changes: readonly FieldChange[]): unknown[] =>
  changes
    .map(({ path, ...values }) => ({ path, old: values.old ?? null, new: values.new ?? null }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));

test('the SQL functions find the same changes and leaves in any objects', async () => {
  await using database = await createTestDatabase();
  const pairs = fc.sample(states, { numRuns: cases(250), seed: 17 });
  const rows = await database.query<{ at: string; path: string; old: unknown; new: unknown }>(
    `SELECT p.at, c.path, c.old, c.new
    FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS p (pair, at)
    CROSS JOIN LATERAL changes_between(p.pair -> 0, p.pair -> 1) c`,
    [JSON.stringify(pairs)],
  );
  const leaves = await database.query<{ at: string; path: string; value: unknown }>(
    `SELECT p.at, l.path, l.value
    FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS p (pair, at)
    CROSS JOIN LATERAL leaves_of(p.pair -> 1) l`,
    [JSON.stringify(pairs)],
  );
  let compared = 0;
  for (const [at, [before, after]] of pairs.entries()) {
    const isOfPair = (row: { at: string }): boolean => Number(row.at) === at + 1;
    // PostgreSQL writes an object in its own way; nothing is named by one.
    if ([...rows, ...leaves].some((row) => isOfPair(row) && /=[{[]/.test(row.path))) continue;
    compared += 1;
    const inSql = rows
      .filter(isOfPair)
      .map(({ path, ...values }) => ({ path, old: values.old, new: values.new }));
    expect(sorted(compare(before, after)), JSON.stringify([before, after])).toEqual(
      sorted(inSql as FieldChange[]),
    );
    const sqlLeaves = leaves.filter(isOfPair).map(({ path, value }) => ({ path, value }));
    const byPath = (a: { path: string }, b: { path: string }): number => (a.path < b.path ? -1 : 1);
    expect(atOnce(leavesOf(after)).sort(byPath)).toEqual(sqlLeaves.sort(byPath));
  }
  expect(compared).toBeGreaterThan(cases(120));
});
