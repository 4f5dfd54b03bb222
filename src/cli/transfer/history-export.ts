import type { JsonObject } from '../../api/object-meta.ts';
import { isObject, textOf } from '../../object/json-values.ts';
import { type ApiClient, ApiError } from './api-client.ts';
import { objectsOf, pathOf } from './api-resources.ts';
import type { PastWrite } from './past-write.ts';
import type { Progress } from './progress.ts';
import { endStream, openFile, writeTo } from './yaml-output.ts';

interface HistoryWish {
  readonly namespace: string;
  readonly asOf: string;
  readonly progress: Progress;
}

const REVISIONS = '/apis/history.cluster.io/v1alpha1/revisions';
/** States that are read at the same time. */
const AT_ONCE = 16;

/** Writes the log as lines of JSON, oldest first, each with the state that the write left. Returns how many. @throws ApiError */
export async function exportHistory(
  client: ApiClient,
  path: string,
  { progress, ...wish }: HistoryWish,
): Promise<number> {
  const writes = await listWrites(client, wish);
  progress.begin('revisions', writes.length);
  const file = openFile(path);
  let count = 0;
  for (let at = 0; at < writes.length; at += AT_ONCE) {
    const part = await Promise.all(writes.slice(at, at + AT_ONCE).map((write) => withState(client, write)));
    const lines = part.filter((one) => one !== undefined).map((one) => `${JSON.stringify(one)}\n`);
    await writeTo(file, lines.join(''));
    count += lines.length;
    progress.add(part.length);
  }
  await endStream(file);
  return count;
}

/** The API lists the newest first. */
async function listWrites(
  client: ApiClient,
  { namespace, asOf }: Pick<HistoryWish, 'namespace' | 'asOf'>,
): Promise<readonly PastWrite[]> {
  const found: PastWrite[] = [];
  let token = '';
  do {
    const query = new URLSearchParams({ limit: '500' });
    if (namespace !== '') query.set('fieldSelector', `object.namespace=${namespace}`);
    if (token !== '') query.set('continue', token);
    else if (asOf !== '') query.set('asOf', asOf);
    const { items, metadata } = await client.get(`${REVISIONS}?${query}`);
    for (const item of objectsOf(items)) found.push(toPastWrite(item));
    token = isObject(metadata) ? textOf(metadata.continue) : '';
  } while (token !== '');
  return found.reverse();
}

function toPastWrite(row: JsonObject): PastWrite {
  const of = isObject(row.object) ? row.object : {};
  return {
    revision: isObject(row.metadata) ? textOf(row.metadata.name) : '',
    at: textOf(row.at),
    verb: textOf(row.verb),
    user: textOf(row.user),
    userAgent: textOf(row.userAgent),
    sourceAddress: textOf(row.sourceAddress),
    requestID: textOf(row.requestID),
    manager: textOf(row.manager),
    object: {
      group: textOf(of.group),
      version: textOf(of.version),
      resource: textOf(of.resource),
      namespace: textOf(of.namespace),
      name: textOf(of.name),
    },
  };
}

/** Undefined: the revision was compacted meanwhile, or its resource is not served any more. @throws ApiError */
async function withState(client: ApiClient, write: PastWrite): Promise<PastWrite | undefined> {
  if (write.verb === 'delete') return write;
  const { group, version, resource, namespace, name } = write.object;
  const collection = pathOf({ group, version, resource, kind: '', namespaced: namespace !== '' }, namespace);
  try {
    return {
      ...write,
      state: await client.get(`${collection}/${encodeURIComponent(name)}?asOf=${write.revision}`),
    };
  } catch (error) {
    if (error instanceof ApiError && (error.code === 404 || error.code === 410)) return undefined;
    throw error;
  }
}
