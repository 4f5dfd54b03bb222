import { expect, test, vi } from 'vitest';

type StartClock = (
  what: string,
  out: { readonly isTTY: boolean; write(text: string): unknown },
) => () => void;

const CLOCK = new URL('../../src/cli/clock.mjs', import.meta.url).href;
const { startClock }: { startClock: StartClock } = await import(CLOCK);

function written(out: { readonly isTTY: boolean }): string {
  vi.useFakeTimers();
  const lines: string[] = [];
  try {
    const end = startClock('building', { ...out, write: (text: string) => lines.push(text) });
    vi.advanceTimersByTime(2000);
    end();
    end();
    vi.advanceTimersByTime(5000);
    return lines.join('');
  } finally {
    vi.useRealTimers();
  }
}

test('a terminal shows for how long npm start is installing or building, and a file what it does', () => {
  vi.stubEnv('TERM', 'xterm');
  expect(written({ isTTY: true })).toBe('        building\r        building, 1 s\r        building, 2 s\n');
  expect(written({ isTTY: false })).toBe('        building\n');
  vi.stubEnv('TERM', 'dumb');
  expect(written({ isTTY: true })).toBe('        building\n');
  vi.unstubAllEnvs();
});
