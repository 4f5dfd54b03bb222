// @module-tag long
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../postgres.ts';
import { CHECKS } from './checks.ts';
import { generate } from './generate.ts';
import { DAYS, Shape } from './shape.ts';

/** As few objects as a log may have. */
const [REVISIONS, OBJECTS] = [25_000, 5000];

test.each([false, true])(
  'a log that is made has one chain for each object, which ends in its current state; small: %s',
  async (isSmall) => {
    await using database = await createTestDatabase();
    const log = await generate(database.url, { revisions: REVISIONS, objects: OBJECTS, isSmall });
    const [{ revisions, objects, days } = {}] = await database.query<Record<string, number>>(
      `SELECT count(*)::int AS revisions, count(DISTINCT tableoid)::int AS days,
       (SELECT count(*) FROM objects)::int AS objects FROM revisions`,
    );
    expect(revisions).toBeGreaterThan(REVISIONS - 100);
    expect(revisions).toBeLessThanOrEqual(REVISIONS);
    expect({ objects, days }).toEqual({ objects: OBJECTS, days: DAYS });
    for (const { promise, violations } of CHECKS) {
      expect(await database.query(violations(new Shape(log))), promise).toEqual([]);
    }
  },
);

test('too few objects or revisions are refused', () => {
  const log = { first: 1, follows: 0, from: new Date(), days: 10, isSmall: false };
  expect(() => new Shape({ ...log, revisions: 100_000, objects: 100 })).toThrow('--objects must be');
  expect(() => new Shape({ ...log, revisions: 10_000, objects: 10_000 })).toThrow('--revisions must be');
});
