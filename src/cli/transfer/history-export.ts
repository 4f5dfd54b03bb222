import { closeSync, createReadStream, openSync, readSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { toQualifiedResource } from '../../api/names.ts';
import type { JsonObject } from '../../api/object-meta.ts';
import { isObject, textOf } from '../../object/json-values.ts';
import { type ApiClient, ApiError } from './api-client.ts';
import { objectsOf, pathOf } from './api-resources.ts';
import { type OwnLogs, REVISIONS, toMoment } from './own-logs.ts';
import type { PastWrite } from './past-write.ts';
import type { Progress } from './progress.ts';
import { endStream, openFile, writeTo } from './yaml-output.ts';

interface HistoryWish {
  readonly namespace: string;
  readonly asOf: string;
  readonly own: OwnLogs;
  readonly progress: Progress;
}

/** One log, and what of it is wanted. */
interface LogWish extends Pick<HistoryWish, 'namespace' | 'asOf' | 'progress'> {
  /** Whose log it is; '': that of all resources without one of their own. */
  readonly resource: string;
  isWanted(write: PastWrite): boolean;
}

const PAGE = 500;
/** States that are read one by one, at the same time. */
const AT_ONCE = 16;

/** Notes of servers about resources that have moved, which no API serves. */
const MOVES = 'moves.storage.cluster.io';

/**
 * Writes the history as lines of JSON, oldest first, each with the state that the write left. Returns how many. Logs of several
 * databases are joined by their moments.
 * @throws ApiError
 */
export async function exportHistory(client: ApiClient, path: string, wish: HistoryWish): Promise<number> {
  const { namespace, progress, own } = wish;
  progress.begin('revisions');
  // What a resource has left behind in this log ends where it moved.
  const main: LogWish = {
    ...wish,
    resource: '',
    isWanted: ({ object }) => {
      const name = toQualifiedResource(object);
      return name !== MOVES && !own.has(name);
    },
  };
  if (own.size === 0) return exportLog(client, path, main);
  const asOf = await toMoment(client, wish.asOf);
  const others = [...own].map(
    (resource): LogWish => ({ namespace, asOf, progress, resource, isWanted: () => true }),
  );
  const parts = [main, ...others].map((log, at) => ({ log, file: `${path}.${at}` }));
  let count = 0;
  try {
    for (const { log, file } of parts) count += await exportLog(client, file, log);
    await joinByMoment(
      parts.map(({ file }) => file),
      path,
    );
  } finally {
    for (const { file } of parts) rmSync(file, { force: true });
  }
  return count;
}

/** The next line of a log. Lines of one log stay in their order, even where its moments go back. */
interface Head {
  line: string;
  atMs: number;
  readonly rest: AsyncIterator<string>;
}

async function joinByMoment(files: readonly string[], path: string): Promise<void> {
  const joined = openFile(path);
  const heads: Head[] = [];
  for (const file of files) {
    const rest = createInterface({ input: createReadStream(file) })[Symbol.asyncIterator]();
    const head = { line: '', atMs: 0, rest };
    if (await moveOn(head)) heads.push(head);
  }
  while (heads.length > 0) {
    const first = heads.reduce((least, head) => (head.atMs < least.atMs ? head : least));
    await writeTo(joined, `${first.line}\n`);
    if (!(await moveOn(first))) heads.splice(heads.indexOf(first), 1);
  }
  await endStream(joined);
}

async function moveOn(head: Head): Promise<boolean> {
  const { done, value } = await head.rest.next();
  if (done === true) return false;
  const { at }: PastWrite = JSON.parse(value);
  head.line = value;
  head.atMs = Date.parse(at);
  return true;
}

/**
 * The API lists the newest first, and a log is larger than memory: pages go to a file beside it as they come, each turned around, and
 * from there in the opposite order to their place.
 * @throws ApiError
 */
async function exportLog(client: ApiClient, path: string, wish: LogWish): Promise<number> {
  const turned = `${path}.part`;
  const file = openFile(path);
  let count = 0;
  try {
    const part = openFile(turned);
    const pageBytes: number[] = [];
    for await (const writes of listPages(client, wish)) {
      const whole = await withStates(client, writes.filter(wish.isWanted));
      const lines = whole.map((one) => `${JSON.stringify(one)}\n`);
      const text = lines.reverse().join('');
      await writeTo(part, text);
      pageBytes.push(Buffer.byteLength(text));
      count += lines.length;
      wish.progress.add(writes.length);
    }
    await endStream(part);
    for (const bytes of fromLast(turned, pageBytes)) await writeTo(file, bytes);
  } finally {
    rmSync(turned, { force: true });
  }
  await endStream(file);
  return count;
}

/** The parts of a file with these lengths, the last one first. */
function* fromLast(path: string, lengths: readonly number[]): Generator<Buffer> {
  let end = lengths.reduce((sum, length) => sum + length, 0);
  const file = openSync(path, 'r');
  try {
    for (const length of lengths.toReversed()) {
      end -= length;
      const bytes = Buffer.alloc(length);
      readSync(file, bytes, 0, length, end);
      yield bytes;
    }
  } finally {
    closeSync(file);
  }
}

/** Pages of the log, the newest first, the next of which is requested while the caller works on one. */
async function* listPages(
  client: ApiClient,
  { namespace, asOf, resource }: Pick<LogWish, 'namespace' | 'asOf' | 'resource'>,
): AsyncGenerator<readonly PastWrite[]> {
  const selected = Object.entries({ 'object.namespace': namespace, 'object.resource': resource })
    .filter(([, value]) => value !== '')
    .map(([field, value]) => `${field}=${value}`);
  const read = (token: string): Promise<JsonObject> => {
    const query = new URLSearchParams({ limit: String(PAGE), states: 'true' });
    if (selected.length > 0) query.set('fieldSelector', selected.join(','));
    if (token !== '') query.set('continue', token);
    else if (asOf !== '') query.set('asOf', asOf);
    return client.get(`${REVISIONS}?${query}`);
  };
  let next: Promise<JsonObject> | undefined = read('');
  while (next !== undefined) {
    const page: JsonObject = await next;
    const { items, metadata } = page;
    const token = isObject(metadata) ? textOf(metadata.continue) : '';
    next = token === '' ? undefined : read(token);
    // Handled when it is awaited, unless the caller stops before.
    next?.catch(() => {});
    yield objectsOf(items).map(toPastWrite);
  }
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
    ...(isObject(row.state) ? { state: row.state } : {}),
  };
}

/** @throws ApiError */
async function withStates(client: ApiClient, writes: readonly PastWrite[]): Promise<PastWrite[]> {
  const found: PastWrite[] = [];
  for (let at = 0; at < writes.length; at += AT_ONCE) {
    const part = await Promise.all(writes.slice(at, at + AT_ONCE).map((write) => withState(client, write)));
    for (const write of part) if (write !== undefined) found.push(write);
  }
  return found;
}

/**
 * A list has the states unless the server is of an earlier version. Undefined: the revision was compacted meanwhile, or its resource is
 * not served any more.
 * @throws ApiError
 */
async function withState(client: ApiClient, write: PastWrite): Promise<PastWrite | undefined> {
  if (write.verb === 'delete' || write.state !== undefined) return write;
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
