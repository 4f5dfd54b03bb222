import { createHash, randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { Slabs } from '../../src/storage/slabs.ts';

const MEGABYTE = 1024 * 1024;

test('what is kept is a copy that neighbours share memory with, unless it is large', () => {
  const slabs = new Slabs();
  const source = Buffer.from('{"kind":"Pod"}');
  const [first, second] = [slabs.keep(source), slabs.keep(randomBytes(5000))];
  source.fill(0);
  expect(first.toString()).toBe('{"kind":"Pod"}');
  expect(first.buffer).toBeInstanceOf(SharedArrayBuffer);
  expect(second.buffer).toBe(first.buffer);
  const large = slabs.keep(randomBytes(MEGABYTE / 2));
  expect(large.buffer.byteLength).toBe(large.length);
  expect(slabs.keep(Buffer.alloc(0))).toHaveLength(0);
  expect(slabs.keep(randomBytes(10)).buffer).toBe(first.buffer);
});

test('no two objects overlap, and a slab that is full is followed by another', () => {
  const slabs = new Slabs();
  const sources = Array.from({ length: 2000 }, (_, at) => randomBytes(1 + ((at * 7919) % 9000)));
  const kept = sources.map((bytes) => slabs.keep(bytes));
  expect(kept.every((bytes, at) => bytes.equals(sources[at] ?? NOTHING))).toBe(true);
  expect(new Set(kept.map(({ buffer }) => buffer)).size).toBeLessThan(16);
});

const NOTHING = Buffer.alloc(0);

test('another thread reads the same memory, and it is freed once neither thread has a view of it', async () => {
  const worker = new Worker(READER, { eval: true });
  const ask = (question: unknown): Promise<unknown> =>
    new Promise((resolve) => {
      worker.once('message', resolve);
      worker.postMessage(question);
    });
  const residentMegabytes = (): number => process.memoryUsage.rss() / MEGABYTE;
  const held: { kept: Buffer[] } = { kept: [] };
  try {
    await ask([]);
    const before = residentMegabytes();
    const slabs = new Slabs();
    const source = Buffer.alloc(8000, 'object');
    const digest = createHash('sha256');
    for (let at = 0; at < 20_000; at += 1) {
      source.writeInt32LE(at);
      digest.update(source);
      held.kept.push(slabs.keep(source));
    }
    expect(await ask(held.kept)).toBe(digest.digest('hex'));
    expect(residentMegabytes() - before).toBeGreaterThan(140);
    held.kept = [];
    await collected();
    expect(residentMegabytes() - before).toBeGreaterThan(140);
    await ask([]);
    await collected();
    expect(residentMegabytes() - before).toBeLessThan(60);
  } finally {
    await worker.terminate();
  }
});

/** Keeps the views of the last message, and answers their digest. */
const READER = `
  const { createHash } = require('node:crypto');
  const { parentPort } = require('node:worker_threads');
  require('node:v8').setFlagsFromString('--expose-gc');
  const collect = require('node:vm').runInNewContext('gc');
  let views = [];
  parentPort.on('message', (kept) => {
    views = kept;
    const digest = createHash('sha256');
    for (const view of views) digest.update(view);
    setImmediate(() => {
      collect();
      parentPort.postMessage(digest.digest('hex'));
    });
  });`;

async function collected(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('there is no collector to call');
  for (let round = 0; round < 3; round += 1) {
    collect();
    await new Promise(setImmediate);
  }
}

test('the collector runs in time for slabs that are no longer used', async () => {
  const slabs = new Slabs();
  const bytes = Buffer.alloc(100_000, 'x');
  const before = process.memoryUsage.rss();
  const lately: Buffer[] = [];
  let most = 0;
  for (let at = 0; at < 10_000; at += 1) {
    lately.push(slabs.keep(bytes));
    if (lately.length > 50) lately.shift();
    if (at % 100 !== 0) continue;
    most = Math.max(most, process.memoryUsage.rss() - before);
    await new Promise(setImmediate);
  }
  expect(most / MEGABYTE).toBeLessThan(400);
});

test('bytes in slabs are read as any others', () => {
  const kept = new Slabs().keep(Buffer.from('{"metadata":{"name":"é"}}'));
  const own = Buffer.from(kept);
  expect(kept.equals(own)).toBe(true);
  expect(kept.indexOf(Buffer.from('"name"'))).toBe(own.indexOf('"name"'));
  expect(kept.toString('latin1')).toBe(own.toString('latin1'));
  expect(new TextDecoder('utf-8', { fatal: true }).decode(kept)).toBe(own.toString());
  expect(gunzipSync(gzipSync(kept)).equals(own)).toBe(true);
});
