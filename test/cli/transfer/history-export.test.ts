import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { ApiClient } from '../../../src/cli/transfer/api-client.ts';
import { exportHistory } from '../../../src/cli/transfer/history-export.ts';
import { findOwnLogs, toMoment } from '../../../src/cli/transfer/own-logs.ts';
import { Progress } from '../../../src/cli/transfer/progress.ts';

const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-history-export-'));
const LAST = 7;
const PAGE = 3;

/** A log of seven writes, of which the fourth is a delete. `hasStates`: as servers are that know ?states=true. */
function serveLog(hasStates: boolean): Promise<{ url: string; asked: string[]; close: () => void }> {
  const asked: string[] = [];
  const rowOf = (revision: number) => ({
    metadata: { name: String(revision) },
    ...{ at: '2026-01-31T12:00:00.000000Z', verb: revision === 4 ? 'delete' : 'update', user: 'jane' },
    object: { version: 'v1', resource: 'configmaps', namespace: 'shop', name: 'ä' },
    ...(hasStates && revision !== 4 ? { state: { data: { at: `ä${revision}` } } } : {}),
  });
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://a');
    asked.push(request.url ?? '');
    if (!pathname.endsWith('/revisions')) {
      response.end(JSON.stringify({ data: { at: `ä${searchParams.get('asOf')}` } }));
      return;
    }
    const newest = Number(searchParams.get('continue') ?? LAST);
    const rows = Array.from({ length: Math.min(PAGE, newest) }, (_, at) => rowOf(newest - at));
    const metadata = newest > PAGE ? { continue: String(newest - PAGE) } : {};
    response.end(JSON.stringify({ metadata, items: rows }));
  });
  return new Promise((done) =>
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      done({ url: `http://127.0.0.1:${port}`, asked, close: () => server.close() });
    }),
  );
}

function clientOf(url: string): ApiClient {
  const kubeconfig = join(folder, 'kubeconfig');
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'a' },
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    clusters: [{ name: 'a', cluster: { server: url } }],
    users: [{ name: 'a', user: {} }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  return new ApiClient({ kubeconfig, signal: new AbortController().signal, say: () => {} });
}

afterEach(() => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
});

test.each([
  ['one request for a page of them', true, 3],
  ['single requests, of a server that lists none', false, 3 + LAST - 1],
])('the log goes to a file, the oldest first, with states from %s', async (_, hasStates, requests) => {
  const log = await serveLog(hasStates);
  const client = clientOf(log.url);
  const path = join(folder, 'all.history.jsonl');
  const progress = new Progress(false);
  expect(await exportHistory(client, path, { namespace: 'shop', asOf: '', own: new Set(), progress })).toBe(
    LAST,
  );
  client.close();
  log.close();
  const writes = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(writes.map(({ revision }) => revision)).toEqual(['1', '2', '3', '4', '5', '6', '7']);
  expect(writes.map(({ state }) => state?.data.at)).toEqual(['ä1', 'ä2', 'ä3', undefined, 'ä5', 'ä6', 'ä7']);
  expect(log.asked).toHaveLength(requests);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).sort()).toEqual(['all.history.jsonl', 'kubeconfig']);
});

interface LoggedWrite {
  readonly revision: number;
  readonly resource: string;
  /** Of the second 0. */
  readonly ms: number;
}

const logged = (resource: string, revision: number, ms: number): LoggedWrite => ({ resource, revision, ms });

/** Events have moved at revision 3; since then both logs have numbers of their own. */
const MAIN = [
  ...[logged('events', 1, 100), logged('configmaps', 2, 200), logged('moves.storage.cluster.io', 3, 300)],
  ...[logged('configmaps', 4, 400), logged('configmaps', 5, 700)],
];
const EVENTS = [logged('events', 1, 100), logged('events', 4, 500), logged('events', 5, 600)];

/** Answers lists of revisions as a server with two databases does. */
function serveTwoLogs(): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://a');
    const resource = /object\.resource=([^,]+)/.exec(searchParams.get('fieldSelector') ?? '')?.[1];
    const asOf = searchParams.get('asOf');
    const rows = (resource === 'events' ? EVENTS : MAIN)
      .filter((one) => resource === undefined || one.resource === resource)
      .filter(({ revision }) => revision >= Number(searchParams.get('since') ?? 0))
      .filter(({ revision }) => revision <= Number(searchParams.get('until') ?? Infinity))
      .filter(({ ms }) => asOf === null || ms <= new Date(asOf).getMilliseconds());
    const items = rows.reverse().map((one) => {
      const [name = '', ...group] = one.resource.split('.');
      return {
        metadata: { name: String(one.revision) },
        at: new Date(one.ms).toISOString(),
        verb: 'create',
        object: { group: group.join('.'), version: 'v1', resource: name, uid: `${name}-${one.ms}` },
        state: {},
      };
    });
    const limit = Number(searchParams.get('limit'));
    response.end(JSON.stringify({ metadata: {}, items: items.slice(0, limit) }));
  });
  return new Promise((done) =>
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      done({ url: `http://127.0.0.1:${port}`, close: () => server.close() });
    }),
  );
}

test('the history of a resource with a database of its own is joined to that of all others', async () => {
  const logs = await serveTwoLogs();
  const client = clientOf(logs.url);
  const resources = ['events', 'configmaps', 'secrets'].map((resource) => ({
    ...{ group: '', version: 'v1', resource, kind: '', namespaced: true },
  }));
  const own = await findOwnLogs(client, resources);
  expect([...own]).toEqual(['events']);

  const path = join(folder, 'all.history.jsonl');
  const wish = { namespace: '', own, progress: new Progress(false) };
  const written = async (asOf: string): Promise<string[]> => {
    const count = await exportHistory(client, path, { ...wish, asOf });
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    expect(lines).toHaveLength(count);
    rmSync(path);
    return lines
      .map((line) => JSON.parse(line))
      .map(({ object, revision }) => `${object.resource} ${revision}`);
  };
  // Neither what events have left behind in the other log, nor the note that they have moved.
  const all = ['events 1', 'configmaps 2', 'configmaps 4', 'events 4', 'events 5', 'configmaps 5'];
  expect(await written('')).toEqual(all);
  expect(readdirSync(folder)).toEqual(['kubeconfig']);
  // A revision is one of the other log: for events it stands for its moment.
  expect(await toMoment(client, '4')).toBe('1970-01-01T00:00:00.400Z');
  expect(await written('1970-01-01T00:00:00.550Z')).toEqual(all.slice(0, 4));
  client.close();
  logs.close();
});
