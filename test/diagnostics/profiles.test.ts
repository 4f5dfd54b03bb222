import { gunzipSync } from 'node:zlib';
import protobuf from 'protobufjs';
import { expect, test } from 'vitest';
import { HeapSampler } from '../../src/diagnostics/profiles.ts';

/** The fields of pprof's profile.proto that `go tool pprof -top` reads. */
const PROFILE = protobuf
  .parse(`
  syntax = "proto3";
  message Profile {
    repeated ValueType sample_type = 1;
    repeated Sample sample = 2;
    repeated Location location = 4;
    repeated Function function = 5;
    repeated string string_table = 6;
    int64 time_nanos = 9;
    int64 duration_nanos = 10;
    ValueType period_type = 11;
    int64 period = 12;
  }
  message ValueType { int64 type = 1; int64 unit = 2; }
  message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; }
  message Location { uint64 id = 1; repeated Line line = 4; }
  message Line { uint64 function_id = 1; int64 line = 2; }
  message Function { uint64 id = 1; int64 name = 2; int64 system_name = 3; int64 start_line = 5; }
`)
  .root.lookupType('Profile');

interface Decoded {
  readonly sampleType: { type: number; unit: number }[];
  readonly sample: { locationId: number[]; value: number[] }[];
  readonly location: { id: number; line: { functionId: number; line: number }[] }[];
  readonly function: { id: number; name: number }[];
  readonly stringTable: string[];
  readonly timeNanos: number;
  readonly period: number;
}

const decode = (packed: Buffer): Decoded =>
  PROFILE.toObject(PROFILE.decode(gunzipSync(packed)), {
    longs: Number,
    arrays: true,
    defaults: true,
  }) as Decoded;

/** Bytes by function, as `go tool pprof -top` shows them: of what the innermost function holds. */
function topOf(profile: Decoded): Map<string, number> {
  const top = new Map<string, number>();
  for (const { locationId, value } of profile.sample) {
    const place = profile.location.find(({ id }) => id === locationId[0]);
    const inside = profile.function.find(({ id }) => id === place?.line[0]?.functionId);
    const name = profile.stringTable[inside?.name ?? 0] ?? '';
    top.set(name, (top.get(name) ?? 0) + (value[0] ?? 0));
  }
  return top;
}

const kept: unknown[] = [];

function holdSecrets(): void {
  for (let n = 0; n < 300_000; n += 1) kept.push({ password: `hunter2-${n}`, n });
}

const never = new AbortController().signal;

test('the heap comes as pprof reads it: sizes by function, and nothing of what is in memory', async () => {
  const heap = new HeapSampler(true);
  const before = decode(await heap.inUse(0, never));
  holdSecrets();
  const packed = await heap.inUse(0, never);
  const profile = decode(packed);
  const name = (at: number): string => profile.stringTable[at] ?? '';
  expect(profile.stringTable[0]).toBe('');
  expect(profile.sampleType.map(({ type, unit }) => [name(type), name(unit)])).toEqual([
    ['inuse_space', 'bytes'],
  ]);
  expect(profile.period).toBe(512 * 1024);
  expect(Math.abs(profile.timeNanos / 1e6 - Date.now())).toBeLessThan(60_000);
  expect(topOf(before).get('holdSecrets')).toBeUndefined();
  expect(topOf(profile).get('holdSecrets')).toBeGreaterThan(4_000_000);
  expect(gunzipSync(packed).includes('hunter2')).toBe(false);
  heap.close();
});

test('asked for seconds, it shows what came within them and is still there', async () => {
  const heap = new HeapSampler(true);
  holdSecrets();
  const recorded = heap.inUse(200, never);
  expect(topOf(decode(await recorded)).get('holdSecrets')).toBeUndefined();
  heap.close();
});

test('allocations include freed memory, and the sampling of the heap goes on afterwards', async () => {
  const heap = new HeapSampler(true);
  const stop = new AbortController();
  const recorded = heap.recordAllocations(60_000, stop.signal);
  await new Promise((resolve) => setImmediate(resolve));
  const text = (): string => JSON.stringify(Array.from({ length: 1000 }, (_, n) => ({ n })));
  for (let n = 0; n < 2000; n += 1) text();
  stop.abort();
  const { head } = JSON.parse(await recorded) as { head: unknown };
  expect(JSON.stringify(head)).toContain('"functionName":"text"');
  holdSecrets();
  expect(topOf(decode(await heap.inUse(0, never))).get('holdSecrets')).toBeGreaterThan(0);
  heap.close();
});
