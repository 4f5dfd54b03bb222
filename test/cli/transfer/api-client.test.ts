import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '../../../src/cli/embedded/embedded-postgres.ts';
import { ApiClient } from '../../../src/cli/transfer/api-client.ts';
import { NEVER } from '../../../src/util/pause.ts';

/** Asks a server that answers with these codes in turn, the last one again and again. */
async function ask(
  ...codes: readonly number[]
): Promise<{ outcome: unknown; asked: number; said: string[] }> {
  let asked = 0;
  const server = createServer((_, response) => {
    const code = codes[Math.min(asked, codes.length - 1)] ?? 200;
    asked += 1;
    response.writeHead(code).end(JSON.stringify(code === 200 ? { items: [] } : { message: 'it is ill' }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { outcome, said } = await askAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  server.close();
  return { outcome, asked, said };
}

async function askAt(url: string): Promise<{ outcome: unknown; said: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-client-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      ...{ 'current-context': 'c', contexts: [{ name: 'c', context: { cluster: 'c' } }] },
      clusters: [{ name: 'c', cluster: { server: url } }],
    }),
  );
  const said: string[] = [];
  const client = new ApiClient({
    kubeconfig,
    signal: NEVER,
    say: (line) => said.push(line.replace(url, 'it')),
  });
  const outcome = await client.get('/api/v1/secrets').catch(String);
  client.close();
  rmSync(folder, { recursive: true });
  return { outcome, said };
}

test('a source that is ill for a while is asked again, and says so once', async () => {
  expect(await ask(503, 500, 200)).toEqual({
    ...{ outcome: { items: [] }, asked: 3 },
    said: ['it is asked again: GET /api/v1/secrets: it is ill'],
  });
});

test('a source that cannot read what it keeps ends the import', async () => {
  expect(await ask(500)).toMatchObject({ outcome: 'ApiError: GET /api/v1/secrets: it is ill', asked: 5 });
});

test('a source that has never answered is not waited for', async () => {
  const port = await freePort();
  expect(await askAt(`http://127.0.0.1:${port}`)).toEqual({
    outcome: expect.stringContaining(`ECONNREFUSED 127.0.0.1:${port}`),
    said: [],
  });
});
