import { expect, test } from 'vitest';
import { Slots } from '../../src/util/slots.ts';

test('no more than so many are done at once, in the order they came, also when some fail', async () => {
  const slots = new Slots(2);
  const begun: number[] = [];
  let active = 0;
  let most = 0;
  const results = await Promise.allSettled(
    [1, 2, 3, 4, 5].map((n) =>
      slots.run(async () => {
        begun.push(n);
        active += 1;
        most = Math.max(most, active);
        await new Promise((resolve) => setTimeout(resolve, 5));
        active -= 1;
        if (n % 2 === 0) throw new Error('even');
        return n;
      }),
    ),
  );
  expect(begun).toEqual([1, 2, 3, 4, 5]);
  expect(most).toBe(2);
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'rejected',
    'fulfilled',
  ]);
});
