import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { KeptBytes } from '../../src/storage/kept-bytes.ts';
import { ObjectMemory } from '../../src/storage/object-memory.ts';
import { NEVER } from '../../src/util/pause.ts';

const MEGABYTE = 1024 * 1024;
const HALF_BYTES = MEGABYTE / 2;

/** What a pod of a deployment shares with others; `shape`: another one changes half of its text. */
function pod(number: number, shape = 'a'): Buffer {
  const fields = Array.from({ length: 40 }, (_, at) => [
    `${shape}-field-${at * at}`,
    `${shape} value ${at * 7919}`,
  ]);
  return Buffer.from(
    JSON.stringify({
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: {
        name: `web-${number}`,
        uid: createHash('sha512').update(String(number)).digest('hex'),
        labels: { app: 'web' },
      },
      spec: Object.fromEntries(fields),
    }),
  );
}

/** A memory whose clock the test moves, with room for {@link HALF_BYTES} in a turn. */
function createMemory() {
  const clock = { ms: 0 };
  const memory = new ObjectMemory({ jsonBytes: HALF_BYTES * 2, now: () => clock.ms });
  return { memory, clock, resource: memory.forResource() };
}

const PODS = 3500;
const numbers = Array.from({ length: PODS }, (_, at) => at);
const pods = numbers.map((number) => pod(number));
const others = numbers.map((number) => pod(number, 'b'));
const NOTHING = Buffer.alloc(0);

/** Returns those whose JSON is not what was put in. */
const changed = (kept: readonly KeptBytes[], objects: readonly Buffer[]): KeptBytes[] =>
  kept.filter((one, at) => !one.json.equals(objects[at] ?? NOTHING));

const condensedOf = (kept: readonly KeptBytes[]): KeptBytes[] =>
  kept.filter(({ isCondensed }) => isCondensed);

test('what was not written or read for a while is condensed, and reads return the same bytes', async () => {
  const { memory, resource } = createMemory();
  const kept = pods.map((one) => resource.keep(one));
  await memory.work(NEVER);
  const condensed = condensedOf(kept);
  const bytesAtHand = kept
    .filter(({ isCondensed }) => !isCondensed)
    .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  expect(bytesAtHand).toBeLessThan(HALF_BYTES * 2);
  expect(condensed.length).toBeGreaterThan(PODS / 2);
  const inSlabs = condensed.reduce((sum, one) => sum + (one.condensed()?.length ?? 0), 0);
  expect(inSlabs).toBeLessThan(condensed.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) / 10);
  expect(kept.filter((one, at) => one.sizeBytes !== pods[at]?.length)).toEqual([]);
  expect(kept.filter((one, at) => !one.jsonAtOnce.equals(pods[at] ?? NOTHING))).toEqual([]);
  expect(changed(kept, pods)).toEqual([]);
});

test('a small cluster is never condensed', async () => {
  const { memory, resource } = createMemory();
  const kept = pods.slice(0, 300).map((one) => resource.keep(one));
  await memory.work(NEVER);
  expect(condensedOf(kept)).toHaveLength(0);
  const [first] = kept;
  expect(first?.json).toBe(first?.jsonAtOnce);
});

test('JSON that was handed out stays as it is while other objects are read', async () => {
  const { memory, resource } = createMemory();
  const kept = pods.map((one) => resource.keep(one));
  await memory.work(NEVER);
  const [one, other] = condensedOf(kept);
  const json = one?.json;
  const copy = Buffer.from(json ?? '');
  expect(other?.jsonAtOnce.equals(copy)).toBe(false);
  expect(json?.equals(copy)).toBe(true);
});

test('objects that are read stay at hand for a turn, and as many as there is room for', async () => {
  const { memory, clock, resource } = createMemory();
  const kept = pods.map((one) => resource.keep(one));
  await memory.work(NEVER);
  const condensed = condensedOf(kept);
  clock.ms += 20_000;
  for (const one of condensed) void one.json;
  const isAtHand = (one: KeptBytes): boolean => {
    const [first, again] = [one.look(), one.look()];
    return first === again;
  };
  const atHand = condensed.filter(isAtHand);
  expect(atHand.length).toBeGreaterThan(100);
  expect(atHand.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)).toBeLessThanOrEqual(HALF_BYTES * 2);
  // Two turns later they have left again, without being condensed again.
  const places = atHand.map((one) => one.condensed()?.byteOffset);
  for (let number = 0; number < 1500; number += 1) resource.keep(pod(number + PODS));
  expect(atHand.filter(isAtHand)).toHaveLength(0);
  expect(atHand.map((one) => one.condensed()?.byteOffset)).toEqual(places);
});

test('an object that is replaced or read before its turn to be condensed comes is left alone', async () => {
  const { memory, clock, resource } = createMemory();
  const kept = pods.map((one) => resource.keep(one));
  const [replaced, read] = kept;
  replaced?.retire();
  clock.ms += 20_000;
  expect(read?.json.equals(pod(1))).toBe(true);
  await memory.work(NEVER);
  expect([replaced?.isCondensed, read?.isCondensed]).toEqual([false, false]);
  expect(kept[2]?.isCondensed).toBe(true);
  expect(replaced?.json.equals(pod(0))).toBe(true);
});

test('slabs of which little is left are given up, and those who still have an old state can read it', async () => {
  const { memory, resource } = createMemory();
  const kept = pods.map((one) => resource.keep(one));
  await memory.work(NEVER);
  const condensed = condensedOf(kept);
  const slabsOf = (some: readonly KeptBytes[]): number =>
    new Set(some.map((one) => one.condensed()?.buffer)).size;
  const before = slabsOf(condensed);
  expect(before).toBeGreaterThan(1);
  const survivors = condensed.filter((_, at) => at % 10 === 0);
  for (const one of condensed) if (!survivors.includes(one)) one.retire();
  await memory.work(NEVER);
  expect(slabsOf(survivors)).toBeLessThan(before);
  expect(changed(kept, pods)).toEqual([]);
});

test('another dictionary is chosen when objects change their shape, and nothing keeps the old one', async () => {
  const { memory, resource } = createMemory();
  const first = pods.map((one) => resource.keep(one));
  await memory.work(NEVER);
  const shareOf = (some: readonly KeptBytes[]): number => {
    const condensed = condensedOf(some);
    const inSlabs = condensed.reduce((sum, one) => sum + (one.condensed()?.length ?? 0), 0);
    return inSlabs / condensed.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  };
  const fitting = shareOf(first);
  const before = new Set(condensedOf(first).map((one) => one.condensed()?.buffer));
  const second = others.map((one) => resource.keep(one));
  await memory.work(NEVER);
  expect(shareOf(second)).toBeGreaterThan(fitting * 2);
  const third = others.map((one) => resource.keep(one));
  await memory.work(NEVER);
  await memory.work(NEVER);
  const lately = condensedOf([...first, ...second, ...third]);
  expect(shareOf(lately)).toBeLessThan(fitting * 1.5);
  expect(lately.some((one) => before.has(one.condensed()?.buffer))).toBe(false);
  expect(changed(first, pods)).toEqual([]);
  expect(changed(second, others)).toEqual([]);
});

test('objects that cannot be made smaller, small ones and large ones are kept beside the others', async () => {
  const { memory, resource } = createMemory();
  const noise = (length: number, seed: number): Buffer => {
    let state = seed + 1;
    const next = (): number => {
      state = (state * 48_271) % 2_147_483_647;
      return state % 251;
    };
    return Buffer.from(Array.from({ length }, next));
  };
  const objects = numbers.map((number) => {
    if (number % 50 === 1) return noise(700, number);
    if (number % 50 === 2) return Buffer.from('{}');
    return number === 3 ? Buffer.alloc(700_000, 'large') : pod(number);
  });
  const kept = objects.map((object) => resource.keep(object));
  await memory.work(NEVER);
  expect(condensedOf(kept).length).toBeGreaterThan(PODS / 2);
  expect(kept[1]?.isCondensed).toBe(true);
  expect(kept[3]?.isCondensed).toBe(false);
  expect(changed(kept, objects)).toEqual([]);
});
