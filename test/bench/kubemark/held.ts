import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { type Measured, startUsage } from '../measure/usage.ts';

/** How much of what it has each part of a run uses, in shares of 1. */
export interface Parts {
  /** Of one core: requests are handled by one thread. */
  readonly server: number;
  /** Of all cores. */
  readonly database: number;
  /** The busiest process of the load, of one core. */
  readonly load: number;
  /** All that runs on this machine, of all cores. */
  readonly machine: number;
  /** The 99th percentile of what a question about memory waits, of {@link DELAY_MS}. */
  readonly delay: number;
}

/** Answers from memory that take so long wait for the event loop. */
export const DELAY_MS = 100;
/** A part that uses more of what it has is at its end. */
const FULL = 0.9;

const NAMES: Readonly<Record<keyof Parts, string>> = {
  server: 'the server (its one thread)',
  database: 'the database (all cores)',
  load: 'the load itself',
  machine: 'the machine (all cores, with all that runs on it)',
  delay: `the event loop (${DELAY_MS} ms)`,
};

/**
 * The part that gave in first, or is nearest to it. The machine and the load come before the others: where these are full, nothing
 * is known about the rest.
 */
export function firstToGiveIn(parts: Parts): string {
  const inOrder: readonly (keyof Parts)[] = ['load', 'machine', 'server', 'database', 'delay'];
  const full = inOrder.find((part) => parts[part] >= FULL);
  if (full !== undefined) return `${NAMES[full]} gave in first`;
  const [nearest = 'server'] = inOrder.toSorted((a, b) => parts[b] - parts[a]);
  return `nearest to its end: ${NAMES[nearest]}`;
}

export interface Spent {
  readonly seconds: number;
  readonly serverCores: number;
  readonly databaseCores: number;
  readonly machine: number;
  readonly peakBytes: number;
}

/** Begins to measure processes and the machine; what is returned tells what was spent since. */
export function startSpending(measured: Measured): () => Spent {
  const before = busyTicks();
  const stop = startUsage(measured);
  return () => {
    const { seconds, serverCpu, databaseCpu, peakBytes } = stop();
    const after = busyTicks();
    return {
      seconds,
      serverCores: serverCpu / seconds,
      databaseCores: databaseCpu / seconds,
      machine: (after.busy - before.busy) / Math.max(1, after.all - before.all),
      peakBytes,
    };
  };
}

/** The first line of /proc/stat (proc(5)): user, nice, system, idle, iowait, … in ticks. */
function busyTicks(): { busy: number; all: number } {
  if (process.platform !== 'linux') return { busy: 0, all: cpus().length };
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const ticks = line.split(/\s+/).slice(1, 9).map(Number);
  const all = ticks.reduce((sum, one) => sum + one, 0);
  return { busy: all - (ticks[3] ?? 0) - (ticks[4] ?? 0), all };
}
