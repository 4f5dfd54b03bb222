import { type GroupResource, toQualifiedResource } from '../api/names.ts';
import { badRequest, StatusError } from '../api/status.ts';
import { failureOf } from '../storage/errors.ts';
import type { History, LoggedRevision } from '../storage/history.ts';
import { parseRevision, type Revision } from '../storage/revision.ts';
import { beforeHistory } from '../verbs/as-of.ts';
import { type HistoryParts, REVISIONS } from './parts.ts';

/**
 * Reads the revision of that number. Resources with logs of their own reuse the same numbers: without a resource, the
 * number means the log of all others, and a row of another resource does not match.
 * @throws StatusError 400, 404, 410
 */
export async function findByNumber(
  name: string,
  resource: GroupResource | undefined,
  { historyOf, elsewhere = [] }: Pick<HistoryParts, 'historyOf' | 'elsewhere'>,
): Promise<LoggedRevision | undefined> {
  const row = await readRevision(historyOf(resource ?? REVISIONS), name);
  if (elsewhere.length === 0) return row;
  if (row !== undefined && (resource === undefined || isSame(row.key, resource))) return row;
  const named = elsewhere.map(toQualifiedResource).join(', ');
  throw new StatusError({
    code: 404,
    reason: 'NotFound',
    message: `${toQualifiedResource(REVISIONS)} ${JSON.stringify(name)} not found: revisions of ${named} are in other databases, with numbers of their own, and are asked for with fieldSelector=object.resource=<resource>[.<group>]`,
    details: { name, group: REVISIONS.group, kind: REVISIONS.resource },
  });
}

const isSame = (one: GroupResource, other: GroupResource): boolean =>
  one.group === other.group && one.resource === other.resource;

async function readRevision(history: History, name: string): Promise<LoggedRevision | undefined> {
  const revision = parseName(name);
  try {
    const query = { revisions: [revision], order: 'newest first', limit: 1, states: 'both' } as const;
    return (await history.rows(query)).rows[0];
  } catch (error) {
    if (failureOf(error, 'compacted') === undefined) throw error;
    // Nothing precedes the first revision.
    if ((await history.begin()).at === undefined) return undefined;
    throw await beforeHistory('name', history);
  }
}

/** @throws StatusError 400 */
export function parseName(name: string): Revision {
  const revision = parseRevision(name);
  if (revision === undefined)
    throw badRequest(`name: Invalid value: ${JSON.stringify(name)}: must be the number of a revision`);
  return revision;
}
