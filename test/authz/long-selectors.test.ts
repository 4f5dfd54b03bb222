import { expect, test } from 'vitest';
import { reviewedSelectors } from '../../src/authz/review-selectors.ts';

test('a text of selectors that no query has room for is left out, and the question is about more', () => {
  const text = (bytes: number): string => `a${',a'.repeat(bytes / 2)}`;
  expect(reviewedSelectors({ labelSelector: { rawSelector: text(60_000) } })).toMatchObject({ problems: [] });
  expect(reviewedSelectors({ labelSelector: { rawSelector: text(70_000) } })).toEqual({
    ...{ fields: [], labels: [] },
    problems: ['spec.resourceAttributes.labelSelector ignored due to parse error'],
  });
  expect(reviewedSelectors({ fieldSelector: { rawSelector: `a=${'\\\\'.repeat(40_000)}` } })).toMatchObject({
    fields: [],
  });
});
