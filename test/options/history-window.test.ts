import { expect, test } from 'vitest';
import { DEFAULT_WINDOW, parseHistoryWindow } from '../../src/options/history-window.ts';

const FLAG = '--history-window';
const HOUR_MS = 3_600_000;
const read = (value: string) => {
  const { windowMs, shorter } = parseHistoryWindow(value.split(','), FLAG);
  return { windowMs, ...Object.fromEntries(shorter) };
};
const hourly = { 'leases.coordination.k8s.io': HOUR_MS, events: HOUR_MS };

test('history is kept for a day, of leases and events for an hour', () => {
  expect(read(DEFAULT_WINDOW.join(','))).toEqual({ windowMs: 24 * HOUR_MS, ...hourly });
  expect(read('30d')).toEqual({ windowMs: 720 * HOUR_MS, ...hourly });
  expect(read('leases=2h')).toEqual({
    ...hourly,
    windowMs: 24 * HOUR_MS,
    'leases.coordination.k8s.io': 2 * HOUR_MS,
  });
});

test('a resource is named as kubectl names it', () => {
  expect(read('1h,pods=10m,constructor=1m,widgets.example.com=5m,events.events.k8s.io=7m')).toEqual({
    ...{ windowMs: HOUR_MS, 'leases.coordination.k8s.io': HOUR_MS, events: 420_000 },
    ...{ pods: 600_000, constructor: 60_000, 'widgets.example.com': 300_000 },
  });
});

test.each([
  ['soon', '--history-window: "soon" must be a duration such as 30s, 1h or 30d'],
  ['1d,pods=', '--history-window: "" must be a duration such as 30s, 1h or 30d'],
  ['1d,2d', '--history-window: "2d" is the second window for all resources; name the resource: leases=2d'],
  ['=1h', '--history-window: "" must be a resource, such as pods or leases.coordination.k8s.io'],
  ['Pods=1h', '--history-window: "Pods" must be a resource, such as pods or leases.coordination.k8s.io'],
])('%s is refused, and the flag says what it takes', (value, message) => {
  expect(() => read(value)).toThrow(message);
});
