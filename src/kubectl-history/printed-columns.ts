import type { Paint, Style } from './screen.ts';
import { cutEnd, cutStart, toShown, widthOf } from './shown-text.ts';

/** Tables as kubectl prints them: headings, three spaces between columns. */

export interface Column<Row> {
  readonly heading: string;
  readonly text: (row: Row) => string;
  readonly style?: (row: Row) => Style | undefined;
  readonly isRight?: boolean;
  /** Maximal width on a terminal. Longer values lose their beginning where that matters less. */
  readonly most?: number;
  readonly keeps?: 'end';
}

interface Cell {
  readonly text: string;
  readonly style: Style | undefined;
}

interface TableOptions {
  readonly paint: Paint;
  /** Columns of the terminal: the last column is truncated to it. */
  readonly width: number | undefined;
  readonly hasHeadings?: boolean;
  readonly gap?: string;
  /** Widths of earlier parts of the same table, which this part keeps and extends. */
  readonly widths?: number[];
}

const GAP = '   ';

export function toColumns<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { paint, width, hasHeadings = true, gap = GAP, widths = [] }: TableOptions,
): string {
  const cells = rows.map((row) => columns.map((column) => toCell(row, column, width !== undefined)));
  const head = columns.map(({ heading }): Cell => ({ text: heading, style: 'bold' }));
  const all = hasHeadings ? [head, ...cells] : cells;
  for (const at of columns.keys()) {
    widths[at] = Math.max(widths[at] ?? 0, ...all.map((line) => widthOf(line[at]?.text ?? '')));
  }
  return all.map((line) => toLine(line, columns, { widths, width, paint, gap })).join('');
}

function toCell<Row>(row: Row, { text, style, most, keeps }: Column<Row>, isCut: boolean): Cell {
  const shown = toShown(text(row));
  const cut =
    !isCut || most === undefined ? shown : keeps === 'end' ? cutStart(shown, most) : cutEnd(shown, most);
  return { text: cut, style: style?.(row) };
}

interface Layout {
  readonly widths: readonly number[];
  readonly gap: string;
  readonly width: number | undefined;
  readonly paint: Paint;
}

function toLine<Row>(
  line: readonly Cell[],
  columns: readonly Column<Row>[],
  { widths, width, paint, gap }: Layout,
): string {
  const last = columns.length - 1;
  let used = 0;
  const parts = line.map(({ text, style }, at) => {
    const wide = widths[at] ?? 0;
    const left = width === undefined ? undefined : Math.max(8, width - used);
    used += wide + gap.length;
    const shown = at === last && left !== undefined ? cutEnd(text, left) : text;
    const painted = style === undefined ? shown : paint(style, shown);
    const pad = ' '.repeat(Math.max(0, wide - widthOf(shown)));
    if (columns[at]?.isRight === true) return pad + painted;
    return at === last ? painted : painted + pad;
  });
  return `${parts.join(gap).trimEnd()}\n`;
}
