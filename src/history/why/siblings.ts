import type { History, LoggedRevision, LogQuery } from '../../storage/history.ts';
import { type Revision, toRevision } from '../../storage/revision.ts';
import type { Confidence, PastWrite } from './past.ts';

/** Another write of the act with which an explanation ends. It caused nothing in it. */
interface Sibling {
  readonly row: LoggedRevision;
  readonly evidence: string;
  readonly confidence: Confidence;
}

/** More of them would not be read. */
const MOST_SIBLINGS = 20;
/** Longest time between them: a tool writes one object after the other. */
const NEAR_MS = 3000;
/** Where to look for them: in the revisions of that time, and of one client. */
const NEAR = 2000n;
const ROWS = 200;

/** Returns what the same request wrote, and what the same client wrote for the same user within seconds. Newest first. */
export async function siblingsOf(
  write: PastWrite,
  { history, begin }: { readonly history: Pick<History, 'rows' | 'newest'>; readonly begin: Revision },
): Promise<Sibling[]> {
  const { user, manager, requestId } = write;
  const first = write.revision - NEAR;
  const last = write.revision + NEAR;
  const newest = await history.newest();
  const near = {
    after: first > begin ? toRevision(first) : begin,
    // Revisions beyond the newest would be waited for.
    upTo: last < newest ? toRevision(last) : newest,
    order: 'newest first',
    states: 'none',
    limit: ROWS,
  } satisfies LogQuery;
  const together = requestId === '' ? [] : await rowsOf(history, { ...near, requestId });
  const besides = await rowsOf(history, { ...near, user, manager });
  const found = new Map<Revision, Sibling>();
  for (const row of together)
    found.set(row.revision, {
      row,
      confidence: 'certain',
      evidence: `The same request, ${requestId}, wrote it.`,
    });
  for (const row of besides) {
    const apartMs = Math.abs(row.committedAt.getTime() - write.at.getTime());
    if (found.has(row.revision) || row.attribution.userAgent !== write.userAgent || apartMs > NEAR_MS)
      continue;
    const evidence = `${user} wrote it with the same client within ${NEAR_MS / 1000} seconds.`;
    found.set(row.revision, { row, confidence: 'possible', evidence });
  }
  found.delete(write.revision);
  return [...found.values()]
    .sort((a, b) => (a.row.revision > b.row.revision ? -1 : 1))
    .slice(0, MOST_SIBLINGS);
}

const rowsOf = async (history: Pick<History, 'rows'>, query: LogQuery): Promise<readonly LoggedRevision[]> =>
  (await history.rows(query)).rows;
