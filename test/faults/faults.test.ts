import { expect, test } from 'vitest';
import { chooseFaults } from './nemesis/schedule.ts';
import { report } from './report.ts';
import { runFaults } from './run.ts';

/** A short part of `npm run faults`: what has broken promises before, one of each kind. */
const FAULTS = [
  ...['half-open', 'slot-beside-commits', 'kill-server', 'lossy-promotion', 'cut', 'rotate-key'],
  ...['end-stalled', 'restart-postgres', 'client-cut', 'compact', 'kill-postgres'],
];
/** Faults that have not begun by then are left out; what has begun ends. */
const DURATION_MS = 60_000;

test('clients see no broken promise while servers, databases and networks fail', async () => {
  const lines: string[] = [];
  const say = (line: string): void => void lines.push(line);
  const verdict = await runFaults({
    ...{ seed: 1, faults: chooseFaults(FAULTS), durationMs: DURATION_MS, historians: 1, say },
  });
  report(verdict, say);
  expect(verdict.findings, lines.join('\n')).toEqual([]);
}, 240_000);
