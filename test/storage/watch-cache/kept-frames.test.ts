import { expect, test } from 'vitest';
import { KeptFrames } from '../../../src/storage/watch-cache/kept-frames.ts';

class Owner {
  kept = true;

  dropFrames(): void {
    this.kept = false;
  }
}

test('frames are there for at least one turn and gone after two', () => {
  const frames = new KeptFrames();
  const one = new Owner();
  frames.add(one, 100);
  frames.turn();
  expect(one.kept).toBe(true);
  frames.turn();
  expect(one.kept).toBe(false);
});

test('no more than 5 MB of frames are kept, the newest of them', () => {
  const frames = new KeptFrames();
  const all = Array.from({ length: 100 }, () => new Owner());
  for (const one of all) frames.add(one, 100_000);
  const kept = all.flatMap((one, at) => (one.kept ? [at] : []));
  expect(kept.length * 100_000).toBeLessThan(5_000_000);
  expect(kept.length * 100_000).toBeGreaterThan(1_900_000);
  expect(kept.at(-1)).toBe(99);
});
