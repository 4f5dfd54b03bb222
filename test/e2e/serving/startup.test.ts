import { request } from 'node:https';
import pg from 'pg';
import { expect, test } from 'vitest';
import { freePort } from '../../../src/cli/embedded/embedded-postgres.ts';
import { startCluster } from '../../kit/cluster.ts';
import { eventually } from '../../kit/connections.ts';
import { createTestDatabase } from '../../postgres.ts';

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
  await blocker.query('BEGIN; LOCK TABLE heads IN ACCESS EXCLUSIVE MODE');
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
    expect(ready.text).toContain('[-]poststarthook/start-watch-cache failed: reason withheld');
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
