import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { type Kind, pathOf, pluralOf } from '../api/load-kinds.ts';
import type { Column, TableRow } from '../api/read-table.ts';
import { columnsThatFit, compareCells, widthOf } from '../model/column-widths.ts';
import { inOneLine } from '../model/text.ts';
import { toneOf } from '../model/words.ts';
import { useKeys } from '../state/key-handlers.ts';
import { asOf, change, go, hrefOfObject, lastingParams, namespace, params } from '../state/place.ts';
import { isNarrow } from '../state/preferences.ts';
import { keyOf, type Shown, TableState } from '../state/table-state.ts';
import { Empty, Kept, Loading, Trouble } from './notice.tsx';
import { Rows } from './rows.tsx';
import { SearchField } from './search-field.tsx';
import { Age, Text } from './text.tsx';

const ROW_HEIGHT = 36;
const CHARACTER = 7.6;
const NAMESPACE: Column = { name: 'Namespace', type: 'string', priority: 0 };
const NAME_MARGIN = 4;
/** Rows measured for column widths. */
const SAMPLE = 300;

/** All objects of a kind, now or in the past. */
export function ListPage({ kind }: { kind: Kind }): JSX.Element {
  const table = useMemo(() => new TableState(), [kind.id, namespace.value]);
  const path = pathOf(kind, namespace.value);
  const [round, setRound] = useState(0);
  useEffect(() => () => table.close(), [table]);
  useEffect(() => {
    table.read({ path, query: {}, asOf: asOf.value, canWatch: kind.canWatch });
  }, [table, asOf.value, round]);
  const retry = (): void => setRound(round + 1);
  const isKept = table.isKept.value;
  const shown = table.shown.value;
  return (
    <section class="page list-page" aria-busy={table.isReading.value}>
      <ListHead kind={kind} table={table} />
      {table.error.value !== undefined && isKept && <Kept error={table.error.value} />}
      {table.error.value !== undefined && !isKept ? (
        <Trouble error={table.error.value} retry={retry} />
      ) : shown === undefined ? (
        <Loading label={`Loading ${kind.plural}`} />
      ) : (
        <ObjectTable kind={kind} shown={shown} table={table} />
      )}
    </section>
  );
}

function ListHead({ kind, table }: { kind: Kind; table: TableState }): JSX.Element {
  const count = table.shown.value?.rows.length;
  return (
    <header class="page-head">
      <div class="page-title">
        <h1>
          <Text of={pluralOf(kind)} />
        </h1>
        <span class="count" aria-live="polite">
          {count === undefined ? '' : count.toLocaleString('en')}
        </span>
        {asOf.value === undefined && <WatchMark table={table} />}
      </div>
      <SearchField label={`Filter ${kind.plural}`} />
    </header>
  );
}

function WatchMark({ table }: { table: TableState }): JSX.Element | null {
  const state = table.watch.value;
  if (state === 'ended') return null;
  return (
    <span class={`watch-mark watch-${state}`} role="status">
      {WATCH_WORDS[state]}
    </span>
  );
}

const WATCH_WORDS = {
  live: 'live',
  resuming: 'reconnecting…',
  refused: 'not live: you may not watch',
} as const;

interface ShownColumn extends Column {
  /** The index of the cell; -1 is the namespace. */
  readonly index: number;
  readonly width: number;
}

function ObjectTable({ kind, shown, table }: { kind: Kind; shown: Shown; table: TableState }): JSX.Element {
  const [width, setWidth] = useState(innerWidth);
  const { q = '', sort = '', wide } = params.value;
  const columns = useMemo(
    () => chooseColumns(shown, kind.isNamespaced && namespace.value === '', wide === '1', width),
    [shown.columns, shown.rows.length > 0, kind, namespace.value, wide, width],
  );
  const rows = useMemo(() => sorted(filtered(shown.rows, q), columns, sort), [shown, q, sort, columns]);
  useKeys({ w: () => change({ wide: wide === '1' ? '' : '1' }, { replace: true }) });
  if (rows.length === 0)
    return (
      <Empty title={q === '' ? `No ${kind.plural} here` : 'Nothing matches'}>
        {q === '' ? placeInWords() : 'Try fewer words, or another namespace.'}
      </Empty>
    );
  const open = ({ object: { metadata } }: TableRow): void =>
    go({
      ...{ page: 'object', resource: kind.id, namespace: metadata.namespace ?? '', name: metadata.name },
      params: lastingParams(),
    });
  return (
    <Rows
      class="objects"
      label={`List of ${kind.plural}`}
      items={rows}
      rowHeight={ROW_HEIGHT}
      keyOf={keyOf}
      columns={columns.length}
      open={open}
      onWidth={setWidth}
      minWidth={wide === '1' ? columns.reduce((sum, column) => sum + column.width, 0) * CHARACTER : 0}
      head={<TableHead columns={columns} sort={sort} />}
      row={(row) => (
        <>
          {columns.map((column) => (
            <Cell key={column.name} {...{ kind, column, row }} fresh={isFresh(table, row)} />
          ))}
        </>
      )}
    />
  );
}

const isFresh = (table: TableState, row: TableRow): boolean =>
  Date.now() - (table.changedAt.get(keyOf(row)) ?? 0) < 1500;

function placeInWords(): string {
  const where = namespace.value === '' ? 'in any namespace' : `in the namespace ${namespace.value}`;
  return asOf.value === undefined ? `There are none ${where}.` : `There were none ${where} at that moment.`;
}

function TableHead({ columns, sort }: { columns: readonly ShownColumn[]; sort: string }): JSX.Element {
  const total = columns.reduce((sum, { width }) => sum + width, 0);
  const [by, isDown] = [sort.replace(/^-/, ''), sort.startsWith('-')];
  return (
    <>
      <colgroup>
        {columns.map(({ name, width }) => (
          <col key={name} style={{ width: `${(width / total) * 100}%` }} />
        ))}
      </colgroup>
      <thead>
        <tr aria-rowindex={1}>
          {columns.map(({ name, description }) => {
            const order = by !== name ? undefined : isDown ? 'descending' : 'ascending';
            const next = order === undefined ? name : order === 'ascending' ? `-${name}` : '';
            return (
              <th key={name} scope="col" aria-sort={order ?? 'none'} title={description}>
                <button type="button" class={order} onClick={() => change({ sort: next }, { replace: true })}>
                  <Text of={name} />
                </button>
              </th>
            );
          })}
        </tr>
      </thead>
    </>
  );
}

interface CellProps {
  readonly kind: Kind;
  readonly column: ShownColumn;
  readonly row: TableRow;
  readonly fresh: boolean;
}

function Cell({ kind, column, row, fresh }: CellProps): JSX.Element {
  const { metadata } = row.object;
  const mark = fresh ? 'fresh' : undefined;
  if (column.name === 'Name' && column.index === 0) {
    const gone = metadata.deletionTimestamp === undefined ? '' : ' is-going';
    return (
      <td class={`name ${mark ?? ''}${gone}`}>
        <a href={hrefOfObject(kind.id, metadata.namespace ?? '', metadata.name)}>
          <Text of={inOneLine(metadata.name)} />
        </a>
      </td>
    );
  }
  if (column.name === 'Age' && column.index >= 0)
    return (
      <td class={mark}>
        <Age since={metadata.creationTimestamp} />
      </td>
    );
  const text = inOneLine(cellOf(row, column) ?? '');
  const tone = toneOf(column.name, text);
  return (
    <td class={mark} title={text.length > 30 ? text : undefined}>
      <span class={tone === 'none' ? undefined : `tone tone-${tone}`}>
        {text === '' || text === '<none>' ? <span class="faint">–</span> : <Text of={text} />}
      </span>
    </td>
  );
}

const cellOf = (row: TableRow, { index }: ShownColumn): unknown =>
  index < 0 ? row.object.metadata.namespace : row.cells[index];

function chooseColumns(
  { columns, rows }: Shown,
  withNamespace: boolean,
  wide: boolean,
  width: number,
): ShownColumn[] {
  const own = columns
    .map((column, index) => ({ ...column, index }))
    .filter(({ priority }) => wide || priority === 0);
  const [name, ...others] = own;
  const all = [
    ...(name === undefined ? [] : [name]),
    ...(withNamespace ? [{ ...NAMESPACE, index: -1 }] : []),
    ...others,
  ];
  const sample = rows.slice(0, SAMPLE);
  const measured = all.map((column) => {
    const cells = sample.map((row) =>
      column.name === 'Age' ? '20m10s' : inOneLine(cellOf(row, { ...column, width: 0 }) ?? '', 60),
    );
    // Names are bold, and have the page's margin before them.
    const more = column.index === 0 ? NAME_MARGIN : 0;
    return { ...column, width: widthOf(column.name, cells) + more };
  });
  // The wide view scrolls horizontally.
  if (wide) return measured;
  const room = width / CHARACTER;
  return columnsThatFit(measured, isNarrow.value ? Math.max(room, 30) : room).flatMap(
    (index) => measured[index] ?? [],
  );
}

/** Keeps rows that contain all words. */
function filtered(rows: readonly TableRow[], search: string): readonly TableRow[] {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return rows;
  return rows.filter(({ cells, object: { metadata } }) => {
    const text = [metadata.namespace ?? '', metadata.name, ...cells, ...labelsOf(metadata.labels)]
      .join(' ')
      .toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

const labelsOf = (labels: Readonly<Record<string, string>> = {}): string[] =>
  Object.entries(labels).map(([key, value]) => `${key}=${value}`);

function sorted(
  rows: readonly TableRow[],
  columns: readonly ShownColumn[],
  sort: string,
): readonly TableRow[] {
  const column = columns.find(({ name }) => name === sort.replace(/^-/, ''));
  const compare = (a: TableRow, b: TableRow): number => {
    if (column === undefined) return 0;
    if (column.name === 'Age')
      return compareCells(b.object.metadata.creationTimestamp, a.object.metadata.creationTimestamp);
    return compareCells(cellOf(a, column), cellOf(b, column));
  };
  const byName = (a: TableRow, b: TableRow): number => {
    const [x, y] = [keyOf(a), keyOf(b)];
    return x < y ? -1 : x > y ? 1 : 0;
  };
  const direction = sort.startsWith('-') ? -1 : 1;
  return rows.toSorted((a, b) => compare(a, b) * direction || byName(a, b));
}
