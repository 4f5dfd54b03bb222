import type { LoggedRevision } from '../../history.ts';
import type { Revision } from '../../revision.ts';
import { toChangeWithPrevious } from '../read/rows.ts';
import { Slab } from '../read/slab.ts';
import type { LogRow } from './log-queries.ts';

/** Rows of one page share their memory, as they share the request or the watches that they are read for. */
export function toLoggedRevisions(rows: readonly LogRow[]): LoggedRevision[] {
  const slab = new Slab(rows.reduce((sum, row) => sum + sizeOf(row), 0));
  const toBytes = (text: string): Buffer => slab.write(text);
  return rows.map((row) => {
    const change = toChangeWithPrevious(row, toBytes);
    const { previousEncoded } = change;
    return {
      ...change,
      ...(previousEncoded === undefined ? {} : { previousStoredAs: previousEncoded.mediaType }),
      at: row.at,
      attribution: {
        username: row.username,
        userAgent: row.user_agent,
        sourceAddress: row.source_address,
        requestId: row.request_id,
        fieldManager: row.field_manager,
      },
    };
  });
}

const sizeOf = ({ object, previous_object: previous }: LogRow): number =>
  Buffer.byteLength(object ?? '') + Buffer.byteLength(previous ?? '');

type Previous = Pick<LoggedRevision, 'previousJson' | 'previousEncoded' | 'previousStoredAs'>;

/**
 * Adds to each row the state before it: the one read with it, or the same bytes from the row that wrote it. `asked`: rows whose
 * states were not read a second time. `read` reads those that did not fit into the page, up to a page of its own; all rows from the
 * first that it leaves out are left out here too, so that small rows cannot bring large states without bound.
 */
export async function withPreviousStates(
  rows: readonly LoggedRevision[],
  asked: ReadonlySet<Revision>,
  read: (revisions: readonly Revision[]) => Promise<readonly LoggedRevision[]>,
): Promise<LoggedRevision[]> {
  const written = new Map(rows.map((row) => [row.revision, row]));
  const found = new Map<Revision, Previous>();
  const left: Revision[] = [];
  for (const { revision, previous, previousJson } of rows) {
    if (previous === undefined || previousJson !== undefined) continue;
    const before = written.get(previous);
    if (before !== undefined) found.set(revision, toPrevious(before));
    else if (asked.has(previous)) left.push(revision);
  }
  const more = left.length === 0 ? [] : await read(left);
  for (const row of more) found.set(row.revision, row);
  // A row compacted meanwhile is missing from the middle of `more`, and gets no state before it.
  const last = more.at(-1)?.revision;
  const unread = last === undefined ? undefined : left[left.indexOf(last) + 1];
  const end = unread === undefined ? rows.length : rows.findIndex(({ revision }) => revision === unread);
  return rows.slice(0, end).map((row) => withPrevious(row, found.get(row.revision)));
}

function withPrevious(row: LoggedRevision, found: Previous | undefined): LoggedRevision {
  const { previousJson, previousEncoded, previousStoredAs } = found ?? row;
  if (previousJson === undefined) return row.previous === undefined ? row : { ...row, previousGone: true };
  if (found === undefined) return row;
  return {
    ...row,
    previousJson,
    ...(previousEncoded === undefined ? {} : { previousEncoded }),
    ...(previousStoredAs === undefined ? {} : { previousStoredAs }),
  };
}

const toPrevious = ({ json, encoded }: LoggedRevision): Previous => ({
  previousJson: json,
  ...(encoded === undefined ? {} : { previousEncoded: encoded, previousStoredAs: encoded.mediaType }),
});
