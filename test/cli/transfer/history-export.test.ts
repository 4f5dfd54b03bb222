import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { ApiClient } from '../../../src/cli/transfer/api-client.ts';
import { exportHistory } from '../../../src/cli/transfer/history-export.ts';
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

afterEach(() => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
});

test.each([
  ['one request for a page of them', true, 3],
  ['single requests, of a server that lists none', false, 3 + LAST - 1],
])('the log goes to a file, the oldest first, with states from %s', async (_, hasStates, requests) => {
  const log = await serveLog(hasStates);
  const kubeconfig = join(folder, 'kubeconfig');
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'a' },
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    clusters: [{ name: 'a', cluster: { server: log.url } }],
    users: [{ name: 'a', user: {} }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  const client = new ApiClient({ kubeconfig, signal: new AbortController().signal, say: () => {} });
  const path = join(folder, 'all.history.jsonl');
  const progress = new Progress(false);
  expect(await exportHistory(client, path, { namespace: 'shop', asOf: '', progress })).toBe(LAST);
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
