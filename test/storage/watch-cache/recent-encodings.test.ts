import { expect, test } from 'vitest';
import { RecentEncodings } from '../../../src/storage/watch-cache/recent-encodings.ts';

class Encoded {
  kept = true;

  dropEncodings(): void {
    this.kept = false;
  }
}

test('encodings are there for at least one turn and gone after two', () => {
  const encodings = new RecentEncodings();
  const one = new Encoded();
  encodings.add(one, 100);
  encodings.turn();
  expect(one.kept).toBe(true);
  encodings.turn();
  expect(one.kept).toBe(false);
});

test('no more than 5 MB of encodings are kept, the newest of them', () => {
  const encodings = new RecentEncodings();
  const all = Array.from({ length: 100 }, () => new Encoded());
  for (const one of all) encodings.add(one, 100_000);
  const kept = all.flatMap((one, at) => (one.kept ? [at] : []));
  expect(kept.length * 100_000).toBeLessThan(5_000_000);
  expect(kept.length * 100_000).toBeGreaterThan(1_900_000);
  expect(kept.at(-1)).toBe(99);
});
