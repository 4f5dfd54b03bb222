// @module-tag long
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { expect, test } from 'vitest';
import { freePort } from '../../../src/cli/embedded/embedded-postgres.ts';
import { startCluster } from '../../kit/cluster.ts';
import { eventually } from '../../kit/connections.ts';
import { createTestDatabase } from '../../postgres.ts';

const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

function ask(
  port: number,
  path: string,
): Promise<{ code: number; retryAfter: string | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const asking = request({ host: '127.0.0.1', port, path, rejectUnauthorized: false }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.once('end', () =>
        resolve({ code: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], text }),
      );
    });
    asking.once('error', reject);
    asking.end();
  });
}

test('while it starts a server is alive, not ready, and asks to come back', async () => {
  const database = await createTestDatabase();
  const blocker = new pg.Client({ connectionString: database.url });
  await blocker.connect();
  await blocker.query('BEGIN; LOCK TABLE objects IN ACCESS EXCLUSIVE MODE');
  const port = await freePort();
  const starting = startCluster(database.url, [
    `--secure-port=${port}`,
    '--livez-grace-period=1h',
    '--authorization-mode=RBAC',
  ]);
  try {
    await eventually(async () => expect((await ask(port, '/livez')).text).toBe('ok'));
    const ready = await ask(port, '/readyz');
    expect(ready.code).toBe(500);
    // Nothing of the start is done yet, so that nothing of it may be said to be.
    const lines = ready.text.split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        '[+]ping ok',
        '[+]log ok',
        '[+]etcd ok',
        '[+]etcd-readiness ok',
        '[-]informer-sync failed: reason withheld',
        '[-]autoregister-completion failed: reason withheld',
        '[-]poststarthook/generic-apiserver-start-informers failed: reason withheld',
      ]),
    );
    expect(lines.filter((line) => line.startsWith('[+]poststarthook/'))).toEqual([]);
    expect((await ask(port, '/readyz/poststarthook/rbac/bootstrap-roles')).text).toBe(
      'internal server error: not finished\n',
    );
    expect(await ask(port, '/api/v1/namespaces')).toMatchObject({ code: 429, retryAfter: '1' });
  } finally {
    await blocker.query('ROLLBACK');
    await blocker.end();
  }
  await using cluster = await starting;
  expect((await ask(port, '/readyz')).code).toBe(200);
  expect(await cluster.stop()).toBe(0);
  await database.drop();
});

test('on a network a server does not start without an authorization mode', async () => {
  // An address that no host has: a server that wants to listen there fails, too, but otherwise.
  const address = '--bind-address=192.0.2.1';
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-exposed-'));
  await using database = await createTestDatabase();
  const start = async (...flags: string[]): Promise<{ code: unknown; stderr: string }> => {
    const args = [MAIN, address, `--data-dir=${folder}`, `--kvstore-servers=${database.url}`, ...flags];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const lines = await child.stderr.toArray();
    return {
      code: child.exitCode ?? (await once(child, 'exit'))[0],
      stderr: Buffer.concat(lines).toString(),
    };
  };
  const silent = await start();
  expect(silent.code).toBe(2);
  expect(silent.stderr).toMatch(
    /^pg-apiserver: --authorization-mode is not given[^\n]* on 192\.0\.2\.1: add --authorization-mode=Node,RBAC[^\n]*\n$/,
  );
  const asked = await start('--authorization-mode=AlwaysAllow');
  expect([asked.code, asked.stderr]).toEqual([
    1,
    expect.stringContaining('this machine has no such address'),
  ]);
  rmSync(folder, { recursive: true });
});
