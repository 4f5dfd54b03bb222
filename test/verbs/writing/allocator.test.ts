import { expect, test } from 'vitest';
import { PoolFull } from '../../../src/registry/assigned-values.ts';
import { createPortPool } from '../../../src/registry/value-pool.ts';
import type { Allocations } from '../../../src/storage/allocations.ts';
import { ValueAllocator } from '../../../src/verbs/writing/allocation.ts';

/** What the database would say. */
class Held implements Allocations {
  readonly values = new Set<string>();
  questions = 0;

  async held(): Promise<string[]> {
    this.questions += 1;
    return [...this.values];
  }

  async holder() {
    return undefined;
  }

  async repair() {
    return { added: [], removed: [], contested: [] };
  }
}

const pool = createPortPool({ first: 100, last: 119 });

function setUp() {
  const held = new Held();
  return { held, allocator: new ValueAllocator(held, [pool]) };
}

test('the upper band is chosen from before the lower one, and nothing twice', async () => {
  const { allocator } = setUp();
  const write = allocator.begin(false);
  const ports: number[] = [];
  for (let n = 0; n < 20; n += 1) ports.push(Number(await write.pick(pool)));
  expect(new Set(ports).size).toBe(20);
  expect(ports.slice(0, 4).every((port) => port >= 116)).toBe(true);
  await expect(write.pick(pool)).rejects.toThrow(PoolFull);
});

test('values of a write that failed are free again', async () => {
  const { allocator } = setUp();
  const write = allocator.begin(false);
  for (let n = 0; n < 20; n += 1) await write.pick(pool);
  write.end({ stored: false });
  const next = allocator.begin(false);
  const ports = new Set<string>();
  for (let n = 0; n < 20; n += 1) ports.add(await next.pick(pool));
  expect(ports.size).toBe(20);
});

test('a value that turned out to be taken is not chosen again', async () => {
  const { allocator, held } = setUp();
  for (let n = 100; n < 119; n += 1) held.values.add(String(n));
  const first = allocator.begin(false);
  expect(await first.pick(pool)).toBe('119');
  held.values.add('119');
  first.end({ stored: false, taken: { pool: 'NodePort', value: '119' } });
  await expect(allocator.begin(false).pick(pool)).rejects.toThrow('range is full');
});

test('what others released is noticed once nothing seems left', async () => {
  const { allocator, held } = setUp();
  for (let n = 100; n < 120; n += 1) held.values.add(String(n));
  await expect(allocator.begin(false).pick(pool)).rejects.toThrow(PoolFull);
  held.values.delete('107');
  expect(await allocator.begin(false).pick(pool)).toBe('107');
});

test('a dry run chooses, and keeps nothing', async () => {
  const { allocator, held } = setUp();
  for (let n = 0; n < 50; n += 1) {
    const write = allocator.begin(true);
    await write.pick(pool);
    write.end({ stored: true });
  }
  expect(held.questions).toBe(1);
});
