import { SATURATED } from '../load/jobs.ts';
import type { Row } from './row.ts';

const MEGABYTE = 1024 * 1024;
/** The JSON has all of it. */
const MAX_NOTE = 200;

interface Column {
  readonly title: string;
  cell(row: Row): string;
}

const COLUMNS: readonly Column[] = [
  { title: 'scenario', cell: ({ scenario }) => scenario },
  { title: '/s', cell: ({ rate }) => round(rate) },
  { title: 'p50 ms', cell: ({ p50Ms }) => round(p50Ms) },
  { title: 'p99 ms', cell: ({ p99Ms }) => round(p99Ms) },
  { title: 'server s/1k', cell: ({ serverCpuPer1000 }) => round(serverCpuPer1000) },
  { title: 'db s/1k', cell: ({ databaseCpuPer1000 }) => round(databaseCpuPer1000) },
  {
    title: 'peak MB',
    cell: ({ peakBytes }) => round(peakBytes === undefined ? undefined : peakBytes / MEGABYTE),
  },
  {
    title: 'limit /s',
    cell: ({ limit }) => `${round(limit?.rate)}${mark((limit?.loadCores ?? 0) > SATURATED)}`,
  },
  { title: 'of limit', cell: ({ limit }) => percent(limit?.share) },
  { title: 'by CPU', cell: ({ limit }) => percent(limit?.cpuShare) },
  {
    title: 'load',
    cell: ({ loadCores, saturated }) => `${percent(loadCores)}${mark(saturated === true)}`,
  },
  { title: '', cell: remarks },
];

/** `!` beside the load or the limit: the generator used a whole core for it, so the rate may be its own. */
export function formatTable(rows: readonly Row[]): string {
  const cells = [
    COLUMNS.map(({ title }) => title),
    ...rows.map((row) => COLUMNS.map(({ cell }) => cell(row))),
  ];
  const widths = COLUMNS.map((_, at) => Math.max(...cells.map((line) => line[at]?.length ?? 0)));
  return cells
    .map((line) =>
      line
        .map((cell, at) => pad(cell, { at, width: widths[at] ?? 0 }))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Names to the left, figures to the right. */
function pad(cell: string, { at, width }: { at: number; width: number }): string {
  if (at === 0) return cell.padEnd(width);
  return at === COLUMNS.length - 1 ? cell : cell.padStart(width);
}

/** Three digits that count: 12345, 123, 12.3, 1.23, 0.123. */
export function round(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return '';
  if (value === 0 || Math.abs(value) >= 100) return value.toFixed(0);
  const digits = 2 - Math.floor(Math.log10(Math.abs(value)));
  return value.toFixed(Math.min(4, digits));
}

const mark = (saturated: boolean): string => (saturated ? '!' : '');

const percent = (share: number | undefined): string =>
  share === undefined || !Number.isFinite(share) ? '' : `${(share * 100).toFixed(0)}%`;

function remarks({ status, unit, firstByteP50Ms, facts, note }: Row): string {
  const parts = [
    status === 'ok' ? '' : status.toUpperCase(),
    unit === undefined ? '' : `counts ${unit}`,
    firstByteP50Ms === undefined ? '' : `first byte ${round(firstByteP50Ms)} ms`,
    ...Object.entries(facts ?? {}).map(([name, value]) => `${name} ${round(value)}`),
    (note ?? '').slice(0, MAX_NOTE),
  ];
  return parts.filter((part) => part !== '').join(', ');
}
