/** Chooses the columns of a table that fit into its width. */
interface Measured {
  readonly name: string;
  /** In characters. */
  readonly width: number;
}

const NARROWEST = 5;
const WIDEST = 44;
/** Columns to show first when not all fit. */
const FIRST = ['name', 'status', 'phase', 'namespace', 'ready', 'reason', 'message', 'age', 'type'];

export function widthOf(name: string, cells: readonly string[]): number {
  let width = name.length + 2;
  for (const { length } of cells) width = Math.max(width, length);
  return Math.min(WIDEST, Math.max(NARROWEST, width)) + 2;
}

/** Indexes of the columns that fit into `room` characters, in their order. The first is always shown. */
export function columnsThatFit(columns: readonly Measured[], room: number): number[] {
  const order = [...columns.keys()].toSorted((a, b) => rankOf(columns[a]) - rankOf(columns[b]) || a - b);
  const shown: number[] = [];
  let left = room;
  for (const index of order) {
    const width = Math.min(columns[index]?.width ?? 0, shown.length === 0 ? room : WIDEST);
    if (shown.length > 0 && width > left) continue;
    left -= width;
    shown.push(index);
  }
  return shown.sort((a, b) => a - b);
}

function rankOf(column: Measured | undefined): number {
  const rank = FIRST.indexOf(column?.name.toLowerCase() ?? '');
  return rank < 0 ? FIRST.length : rank;
}

const COLLATOR = new Intl.Collator('en', { numeric: true });

/** Compares numbers by size, and texts in natural order. */
export function compareCells(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return COLLATOR.compare(String(a ?? ''), String(b ?? ''));
}
