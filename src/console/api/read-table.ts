import type { Metadata } from '../model/api-object.ts';
import { askJson } from './ask.ts';
import type { PersistOptions } from './persist.ts';
import { stayCurrent, type WatchState } from './stay-current.ts';

/** Lists in the form that kubectl reads: columns and cells, as the kind defines them. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  /** Above 0: only for wide output. */
  readonly priority: number;
}

export interface TableRow {
  readonly cells: readonly unknown[];
  readonly object: { readonly metadata: Metadata };
}

interface Table {
  readonly metadata?: {
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly columnDefinitions?: readonly Column[];
  readonly rows?: readonly TableRow[] | null;
}

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
/** A small first page appears soon; larger ones save round trips. */
const FIRST_PAGE = '250';
const PAGE = '2500';

export interface TableReader extends Omit<PersistOptions, 'signal'> {
  /** A list begins: remove earlier rows. */
  begin(columns: readonly Column[]): void;
  add(rows: readonly TableRow[]): void;
  /** All pages are read. */
  complete(): void;
  change(type: 'set' | 'delete', row: TableRow): void;
  onState(state: WatchState): void;
}

export interface TableSource {
  readonly path: string;
  readonly query: Readonly<Record<string, string | undefined>>;
  /** Undefined: the present, with updates. */
  readonly asOf: string | undefined;
  readonly canWatch: boolean;
  readonly signal: AbortSignal;
}

/** Reads the list, and then follows it until the signal aborts. @throws ApiError */
export function readTable(source: TableSource, reader: TableReader): Promise<void> {
  const { signal, asOf, canWatch, path, query } = source;
  return stayCurrent<Table>({
    ...{ signal, keeps: reader.keeps, onTrouble: reader.onTrouble },
    read: async () => {
      const revision = await readPages(source, reader);
      return asOf === undefined && canWatch ? revision : undefined;
    },
    watch: {
      ...{ path, query, accept: TABLE, onState: reader.onState },
      revisionOf: (table) =>
        table.metadata?.resourceVersion || table.rows?.[0]?.object.metadata.resourceVersion,
      deliver: ({ type, object }) => {
        for (const row of object.rows ?? []) reader.change(type === 'DELETED' ? 'delete' : 'set', row);
      },
    },
  });
}

async function readPages({ path, query, asOf, signal }: TableSource, reader: TableReader): Promise<string> {
  let next = '';
  let revision = '';
  do {
    const table: Table = await askJson(path, {
      accept: TABLE,
      query: { ...query, asOf, limit: next === '' ? FIRST_PAGE : PAGE, continue: next },
      signal,
    });
    if (next === '') reader.begin(table.columnDefinitions ?? []);
    reader.add(table.rows ?? []);
    revision = table.metadata?.resourceVersion ?? '';
    next = table.metadata?.continue ?? '';
  } while (next !== '');
  reader.complete();
  return revision;
}
