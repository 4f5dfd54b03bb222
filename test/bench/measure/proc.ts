import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** What Linux tells about processes (proc(5)). Elsewhere nothing is measured. */

export interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  /** Its own CPU and that of the children it has waited for, in clock ticks. */
  readonly ticks: number;
}

/** One line of /proc/<pid>/stat: `12 (name (odd)) S 1 …`. The name may hold anything, so fields count from its last `)`. */
export function parseStat(line: string): ProcessStat {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): number => Number(fields[number - 3]);
  return {
    pid: Number.parseInt(line, 10),
    parent: field(4),
    ticks: field(14) + field(15) + field(16) + field(17),
  };
}

/** A field of /proc/<pid>/status that is given in kB, in bytes. 0 when it is not there. */
export function parseStatusBytes(text: string, field: string): number {
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1];
  return kilobytes === undefined ? 0 : Number(kilobytes) * 1024;
}

/** The roots and everything below them. */
export function treeOf(roots: readonly number[], all: readonly ProcessStat[]): ProcessStat[] {
  const children = Map.groupBy(all, ({ parent }) => parent);
  const byPid = new Map(all.map((stat) => [stat.pid, stat]));
  const found: ProcessStat[] = [];
  const visit = (stat: ProcessStat | undefined): void => {
    if (stat === undefined) return;
    found.push(stat);
    for (const child of children.get(stat.pid) ?? []) visit(child);
  };
  for (const root of roots) visit(byPid.get(root));
  return found;
}

/** CPU seconds of whole process trees since they began. A child that ended is counted by the parent that waited for it. */
export function cpuSeconds(roots: readonly number[]): number {
  if (roots.length === 0) return 0;
  return treeOf(roots, readStats()).reduce((sum, { ticks }) => sum + ticks, 0) / ticksPerSecond();
}

export interface Memory {
  readonly residentBytes: number;
  readonly peakBytes: number;
}

export function memoryOf(roots: readonly number[]): Memory {
  const statuses = roots.map((pid) => read(`/proc/${pid}/status`));
  const sum = (field: string): number =>
    statuses.reduce((total, text) => total + parseStatusBytes(text, field), 0);
  return { residentBytes: sum('VmRSS'), peakBytes: sum('VmHWM') };
}

/** Of a whole tree, what its processes share counted once: for PostgreSQL, whose buffers every backend maps. */
export function privateBytes(roots: readonly number[]): number {
  return treeOf(roots, readStats()).reduce(
    (sum, { pid }) => sum + parseStatusBytes(read(`/proc/${pid}/smaps_rollup`), 'Pss'),
    0,
  );
}

/** Peaks count from here. Of a process that is not ours they stay those of its whole life. */
export function resetPeaks(roots: readonly number[]): void {
  for (const pid of roots) {
    try {
      writeFileSync(`/proc/${pid}/clear_refs`, '5');
    } catch {
      // Another user's process.
    }
  }
}

function readStats(): ProcessStat[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids
    .map((pid) => read(`/proc/${pid}/stat`))
    .filter((line) => line !== '')
    .map(parseStat);
}

/** Processes end while they are looked at. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

let ticks: number | undefined;

function ticksPerSecond(): number {
  ticks ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  return ticks;
}
