import { randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { toPosition } from '../../../src/storage/key.ts';
import { toRevision } from '../../../src/storage/revision.ts';
import type { Change } from '../../../src/storage/revision-log.ts';
import { Compression } from '../../../src/storage/watch-cache/compression.ts';
import { RecentEncodings } from '../../../src/storage/watch-cache/recent-encodings.ts';
import { ResourceCache } from '../../../src/storage/watch-cache/resource-cache.ts';
import { Random } from '../../faults/random.ts';

const MEGABYTE = 1024 * 1024;
const PODS = { group: '', resource: 'pods' };

const createCache = (): ResourceCache =>
  new ResourceCache({
    ...{ resource: PODS, loadedAt: toRevision(1), encodings: new RecentEncodings() },
    readFields: () => ({}),
  });

/** 7 kB, of which some 60 bytes are like no other's. */
function toPod(name: string, revision: number): Change {
  const uid = randomBytes(16).toString('hex');
  const metadata = { name, namespace: 'default', uid, labels: { app: 'web' } };
  const containers = Array.from({ length: 20 }, (_, at) => ({
    name: `container-${at}`,
    image: 'registry/app:1',
  }));
  const filler = 'some words that each pod has again and again, '.repeat(110);
  const json = Buffer.from(JSON.stringify({ kind: 'Pod', metadata, spec: { containers, filler } }));
  const key = { ...PODS, namespace: 'default', name };
  return { ...{ key, uid, json, revision: toRevision(revision) }, verb: 'create' } as Change;
}

/** Turns, each with the work that it began. */
async function turn(compression: Compression, times = 1): Promise<void> {
  for (let done = 0; done < times; done += 1) {
    compression.turn();
    while (compression.isAtWork) await new Promise(setImmediate);
  }
}

/** In so many turns, what is not read is inflated no longer. */
const TO_COOL = 120;

/** Of buffers that are still referred to. */
async function heldMegabytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let round = 0; round < 3; round += 1) {
    collect();
    await new Promise(setImmediate);
  }
  return process.memoryUsage().arrayBuffers / MEGABYTE;
}

test('objects that were not written of late are compressed, inflated while they are read, and compressed alone after that', async () => {
  const before = await heldMegabytes();
  const cache = createCache();
  const compression = new Compression(() => [cache], [], { afterTurns: 1, leastBytes: MEGABYTE });
  for (let at = 0; at < 3000; at += 1) cache.load(toPod(`pod-${at}`, 1));
  const plain = (await heldMegabytes()) - before;
  expect(plain).toBeGreaterThan(15);

  await turn(compression);
  expect((await heldMegabytes()) - before).toBeGreaterThan(15);
  await turn(compression);
  expect((await heldMegabytes()) - before).toBeLessThan(plain / 8);

  const names = [...cache.entries()].map(({ json }) => JSON.parse(json.toString()).metadata.name);
  expect(names).toEqual([...cache.entries()].map(({ name }) => name));
  expect((await heldMegabytes()) - before).toBeGreaterThan(15);
  await turn(compression, TO_COOL);
  expect((await heldMegabytes()) - before).toBeLessThan(plain / 8);
});

test('beside writes, deletions and reads, each object keeps its own bytes', async () => {
  const random = new Random(7);
  const cache = createCache();
  const compression = new Compression(() => [cache], [], { afterTurns: 1, leastBytes: 0 });
  const expected = new Map<string, Buffer>();
  for (let step = 1; step < 4000; step += 1) {
    const change = toPod(`pod-${random.between(0, 300)}`, step + 1);
    const { name } = change.key;
    const isDeletion = expected.has(name) && random.next() < 0.2;
    cache.apply(isDeletion ? { ...change, verb: 'delete' } : change);
    if (isDeletion) expected.delete(name);
    else expected.set(name, change.json);
    if (random.next() < 0.01) compression.turn();
    if (random.next() < 0.05) await new Promise(setImmediate);
    if (random.next() > 0.05) continue;
    const read = `pod-${random.between(0, 300)}`;
    expect(cache.get(toPosition({ namespace: 'default', name: read }))?.json).toEqual(expected.get(read));
  }
  await turn(compression, 3);
  expect(cache.plainBytes).toBeLessThan(cache.sizeBytes / 30);
  for (const { name, json, sizeBytes } of cache.entries()) {
    expect(json).toEqual(expected.get(name));
    expect(sizeBytes).toBe(json.length);
  }
  expect(cache.size).toBe(expected.size);
  expect(cache.sizeBytes).toBe([...expected.values()].reduce((sum, { length }) => sum + length, 0));
});

test('a small resource is not walked', async () => {
  const cache = createCache();
  const compression = new Compression(() => [cache], [], { afterTurns: 1, leastBytes: MEGABYTE });
  for (let at = 0; at < 100; at += 1) cache.load(toPod(`pod-${at}`, 1));
  await turn(compression, 3);
  expect([...cache.entries()].some((entry) => 'isSeen' in entry && entry.isSeen === true)).toBe(false);
  for (let at = 100; at < 300; at += 1) cache.load(toPod(`pod-${at}`, 1));
  await turn(compression, 2);
  expect(cache.plainBytes).toBeLessThan(cache.sizeBytes / 30);
});

test('the collector runs once much was compressed, or is inflated no longer', async () => {
  const cache = createCache();
  let collections = 0;
  const collection = {
    begin: () => {
      collections += 1;
    },
  };
  const compression = new Compression(() => [cache], [], { afterTurns: 1, leastBytes: 0, collection });
  for (let at = 0; at < 100; at += 1) cache.load(toPod(`pod-${at}`, 1));
  await turn(compression, 2);
  expect(cache.freedBytes).toBe(cache.sizeBytes);
  expect(collections).toBe(0);
  for (const { json } of cache.entries()) expect(json.length).toBeGreaterThan(0);
  await turn(compression, TO_COOL);
  expect(cache.freedBytes).toBe(2 * cache.sizeBytes);
  cache.freedBytes = 64 * MEGABYTE;
  await turn(compression, 3);
  expect(collections).toBe(1);
  expect(cache.freedBytes).toBe(0);
});
