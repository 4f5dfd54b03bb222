import { expect, test } from 'vitest';
import { allocate } from '../../src/flow-control/levels.ts';

type Wish = Parameters<typeof allocate>[1][number];

const wish = (target: number, lower: number, upper: number): Wish => ({ target, lower, upper });
const rounded = (total: number, wishes: readonly Wish[]): readonly number[] | undefined =>
  allocate(total, wishes)?.seats.map((seats) => Math.round(seats * 1000) / 1000);

test.each<[string, number, Wish[], number[] | undefined]>([
  ['without bounds, by the targets', 30, [wish(10, 0, 100), wish(20, 0, 100)], [10, 20]],
  ['more than the targets, by the same fraction', 60, [wish(10, 0, 100), wish(20, 0, 100)], [20, 40]],
  ['held up by a lower bound', 10, [wish(6, 1, 20), wish(2, 4, 20)], [6, 4]],
  ['held down by an upper bound', 30, [wish(10, 0, 5), wish(10, 0, 100)], [5, 25]],
  ['both', 20, [wish(10, 8, 20), wish(10, 0, 4), wish(10, 0, 20)], [8, 4, 8]],
  ['exactly the lower bounds', 7, [wish(5, 3, 9), wish(9, 4, 9)], [3, 4]],
  ['exactly the upper bounds', 18, [wish(5, 3, 9), wish(9, 4, 9)], [9, 9]],
  ['no target at all', 10, [wish(0, 0, 600), wish(0, 0, 600)], [5, 5]],
  ['less than the lower bounds', 6, [wish(5, 3, 9), wish(9, 4, 9)], undefined],
  ['more than the upper bounds', 19, [wish(5, 3, 9), wish(9, 4, 9)], undefined],
])('seats are divided: %s', (_, total, wishes, expected) => {
  expect(rounded(total, wishes)).toEqual(expected);
});

test('random divisions add up, keep to the bounds, and give the same fraction where no bound matters', () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  for (let n = 0; n < 500; n += 1) {
    const wishes = Array.from({ length: 1 + random(8) }, () => {
      const lower = random(20);
      return wish(lower + random(30), lower, lower + random(60));
    });
    const low = wishes.reduce((sum, { lower }) => sum + lower, 0);
    const high = wishes.reduce((sum, { upper }) => sum + upper, 0);
    const total = low + random(high - low + 1);
    const found = allocate(total, wishes);
    expect(found?.seats.reduce((sum, seats) => sum + seats, 0)).toBeCloseTo(total, 6);
    expect(found?.seats).toHaveLength(wishes.length);
    for (const [at, seats] of (found?.seats ?? []).entries()) {
      const { lower, upper, target } = wishes[at] ?? wish(0, 0, 0);
      expect(seats).toBeGreaterThanOrEqual(lower - 1e-9);
      expect(seats).toBeLessThanOrEqual(upper + 1e-9);
      if (seats > lower + 1e-6 && seats < upper - 1e-6)
        expect(seats).toBeCloseTo(Math.max(target, 0.001) * (found?.fraction ?? 0), 6);
    }
  }
});
