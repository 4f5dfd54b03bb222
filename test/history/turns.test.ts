import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { FieldSetters } from '../../src/history/blame/field-setters.ts';
import { changesBetween, leavesOf } from '../../src/history/changes.ts';
import { toRevision } from '../../src/storage/revision.ts';
import { longestStep } from '../structural/longest-step.ts';

const LIST = 25_000;

const listed = (value: number): JsonObject => ({
  spec: {
    list: Array.from({ length: LIST }, (_, at) => ({
      name: `n${at}`,
      value,
      other: { deep: [1, 2, value] },
    })),
  },
});

test('lists of tens of thousands of elements are compared and blamed in short turns', () => {
  const before = listed(1);
  const after = listed(2);
  const compared = longestStep(changesBetween(before, after, undefined, Number.POSITIVE_INFINITY));
  expect(compared.result.changes).toHaveLength(2 * LIST);
  expect(compared.stepMs).toBeLessThan(50);
  const leaves = longestStep(leavesOf(after));
  expect(leaves.stepMs).toBeLessThan(50);
  const blame = new FieldSetters(leaves.result);
  const blamed = longestStep(blame.take(toRevision(2), compared.result.changes.slice(0, 20)));
  expect(blamed.stepMs).toBeLessThan(50);
});
