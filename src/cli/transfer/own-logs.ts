import { toQualifiedResource } from '../../api/names.ts';
import type { JsonObject } from '../../api/object-meta.ts';
import { isObject, textOf } from '../../object/json-values.ts';
import { type ApiClient, ApiError } from './api-client.ts';
import { type ApiResource, objectsOf } from './api-resources.ts';

export const REVISIONS = '/apis/history.cluster.io/v1alpha1/revisions';

/**
 * The resources whose history is in a log of its own, as `leases.coordination.k8s.io`: those with a database of their own. Revisions of
 * such a log have numbers that do not compare with others, but moments do.
 */
export type OwnLogs = ReadonlySet<string>;

/** Resources that are asked about at the same time. */
const AT_ONCE = 16;

/**
 * Finds the resources with logs of their own. A list of revisions is of one log, and does not say which resources have another: the
 * newest row of such a resource is not in the log of all others.
 * @throws ApiError
 */
export async function findOwnLogs(client: ApiClient, resources: readonly ApiResource[]): Promise<OwnLogs> {
  const names = resources.map(toQualifiedResource);
  const own = new Set<string>();
  for (let at = 0; at < names.length; at += AT_ONCE)
    await Promise.all(
      names.slice(at, at + AT_ONCE).map(async (name) => {
        const newest = await readOne(client, { fieldSelector: `object.resource=${name}` });
        if (newest !== undefined && !(await isInMainLog(client, newest))) own.add(name);
      }),
    );
  return own;
}

/** The moment of a revision of the log of all others; a moment is returned as it is. @throws ApiError */
export async function toMoment(client: ApiClient, asOf: string): Promise<string> {
  if (!/^\d+$/.test(asOf)) return asOf;
  return textOf((await readOne(client, { until: asOf }))?.at) || asOf;
}

async function isInMainLog(client: ApiClient, row: JsonObject): Promise<boolean> {
  const number = numberOf(row);
  try {
    const found = await readOne(client, { since: number, until: number });
    return found !== undefined && numberOf(found) === number && uidOf(found) === uidOf(row);
  } catch (error) {
    // The log of all others begins after it.
    if (error instanceof ApiError && error.code === 410) return false;
    throw error;
  }
}

/** The newest that is selected. */
async function readOne(client: ApiClient, query: Record<string, string>): Promise<JsonObject | undefined> {
  const { items } = await client.get(`${REVISIONS}?${new URLSearchParams({ ...query, limit: '1' })}`);
  return objectsOf(items)[0];
}

const numberOf = ({ metadata }: JsonObject): string => (isObject(metadata) ? textOf(metadata.name) : '');
const uidOf = ({ object }: JsonObject): string => (isObject(object) ? textOf(object.uid) : '');
