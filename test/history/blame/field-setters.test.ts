import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/api/object-meta.ts';
import { FieldSetters } from '../../../src/history/blame/field-setters.ts';
import { changesBetween, type Leaf, leavesOf } from '../../../src/history/changes.ts';
import { isWithin } from '../../../src/history/field-paths.ts';
import { toRevision } from '../../../src/storage/revision.ts';
import { atOnce } from '../../../src/util/turns.ts';
import { cases } from '../../kit/cases.ts';
import { states } from '../changed-objects.ts';

/** Of states that follow each other; the first was created. */
function blame(history: readonly JsonObject[]): {
  leaves: Leaf[];
  setterOf(path: string): bigint | undefined;
} {
  const leaves = atOnce(leavesOf(history.at(-1) ?? {}));
  const found = new FieldSetters(leaves);
  for (let at = history.length - 1; at >= 0; at -= 1)
    atOnce(found.take(toRevision(at), atOnce(changesBetween(history[at - 1], history[at])).changes));
  return { leaves, setterOf: (path) => found.setterOf(path) };
}

test('a field is set by the last revision that changed it, or something that it is in', () => {
  const history = [
    { spec: { a: 1, b: { c: 1, d: 1 }, list: [{ name: 'x', v: 1 }] } },
    { spec: { a: 2, b: { c: 1, d: 1 }, list: [{ name: 'x', v: 1 }] } },
    { spec: { a: 2, list: [{ name: 'x', v: 1 }] } },
    {
      spec: {
        a: 2,
        b: { c: 1, d: 1 },
        list: [
          { name: 'x', v: 1 },
          { name: 'y', v: 1 },
        ],
      },
    },
    {
      spec: {
        a: 2,
        b: { c: 1, d: 2 },
        list: [
          { name: 'y', v: 1 },
          { name: 'x', v: 1 },
        ],
      },
    },
  ];
  const { leaves, setterOf } = blame(history);
  expect(leaves.map(({ path }) => [path, Number(setterOf(path))])).toEqual([
    ['spec.a', 1],
    ['spec.b.c', 3],
    ['spec.b.d', 4],
    ['spec.list[name=y].name', 3],
    ['spec.list[name=y].v', 3],
    ['spec.list[name=x].name', 0],
    ['spec.list[name=x].v', 0],
  ]);
});

test('a field that was set before the first known revision has no author', () => {
  const leaves = atOnce(leavesOf({ a: 1, b: 1 }));
  const found = new FieldSetters(leaves);
  atOnce(found.take(toRevision(7), atOnce(changesBetween({ a: 0, b: 1 }, { a: 1, b: 1 })).changes));
  expect([found.setterOf('a'), found.setterOf('b'), found.isDone]).toEqual([7n, undefined, false]);
});

test('of any two states, those fields are blamed on the second that its changes are about', () => {
  fc.assert(
    fc.property(states, ([before, after]) => {
      const { changes } = atOnce(changesBetween(before, after));
      const { leaves, setterOf } = blame([before, after]);
      for (const { path } of leaves)
        expect(setterOf(path), path).toBe(changes.some((change) => isWithin(path, change.path)) ? 1n : 0n);
    }),
    { numRuns: cases(300) },
  );
});
