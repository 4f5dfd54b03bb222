import { expect, test } from 'vitest';
import { durationSince, humanDuration, toDated, toUndated, UNDATED } from '../../src/object/ages.ts';
import { BUILT_IN_RESOURCES } from '../kit/built-in-resources.ts';

const START = Date.parse('2026-01-02T03:04:05Z');

test('a text made for no moment reads, at any moment, as if it had been made then', () => {
  const make = (now: number): string =>
    JSON.stringify(['a', `3 (${durationSince(START + 60_000, now)} ago)`, durationSince(START, now)]);
  const undated = toUndated(make(UNDATED));
  for (const later of [-5000, 0, 90_000, 3_600_000, 400 * 86_400_000]) {
    expect(toDated(undated, START + later)).toBe(make(START + later));
  }
});

test('a text without ages, and a time that is none, stay what they are', () => {
  expect(toDated(toUndated('["x"]'), START)).toBe('["x"]');
  expect(toDated(toUndated(durationSince(Number.NaN, UNDATED)), START)).toBe(humanDuration(Number.NaN));
});

test('the cells of every built-in resource can be dated afterwards', () => {
  const object = {
    kind: 'X',
    apiVersion: 'v1',
    metadata: { name: 'x', creationTimestamp: '2026-01-02T03:04:05Z' },
    spec: {},
    status: { startTime: '2026-01-02T03:04:05Z', lastScheduleTime: '2026-01-02T03:04:05Z' },
    lastTimestamp: '2026-01-02T03:04:05Z',
    firstTimestamp: '2026-01-02T03:04:05Z',
  };
  const now = START + 7 * 86_400_000;
  for (const { resource, cells } of BUILT_IN_RESOURCES) {
    const dated = toDated(toUndated(JSON.stringify(cells(object, UNDATED))), now);
    expect(dated, resource).toBe(JSON.stringify(cells(object, now)));
  }
});
