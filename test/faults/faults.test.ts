import { expect, test } from 'vitest';
import { chooseFaults } from './nemesis/schedule.ts';
import { report } from './report.ts';
import { type RunOptions, runFaults } from './run.ts';

/** What has broken promises before, one of each kind. */
const FAULTS = [
  ...['half-open', 'slot-beside-commits', 'kill-server', 'lossy-promotion', 'cut', 'rotate-key'],
  ...['end-stalled', 'restart-postgres', 'client-cut', 'compact', 'kill-postgres'],
];

/** Faults that have not begun by then are left out; what has begun ends. */
const DURATION_MS = 60_000;

/** Beside other tests. */
const CALM: Pick<RunOptions, 'pauseMs'> = { pauseMs: [20, 150] };

async function play(faults: readonly string[], more: typeof CALM = {}): Promise<void> {
  const lines: string[] = [];
  const say = (line: string): void => void lines.push(line);
  const options = {
    seed: 1,
    faults: chooseFaults(faults),
    durationMs: DURATION_MS,
    historians: 1,
    ...more,
    say,
  };
  const verdict = await runFaults(options);
  report(verdict, say);
  expect(verdict.findings, lines.join('\n')).toEqual([]);
}

test('clients see no broken promise while a server and a database are killed', () =>
  play(['kill-server', 'kill-postgres'], CALM));

test('nor do they in a short form of `npm run faults`', { tags: 'long', timeout: 240_000 }, () =>
  play(FAULTS),
);
