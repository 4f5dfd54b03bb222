import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { expect, test } from 'vitest';
import { NO_REVISION, type Revision } from '../../../src/storage/revision.ts';
import { onLeash } from '../../kit/leash.ts';
import { createTestDatabase, startPrivatePostgres } from '../../postgres.ts';
import { openLog, Recorder, write } from './kit.ts';

const WRITER = fileURLToPath(new URL('writer-process.ts', import.meta.url));

test('killing a server in the middle of writes loses nothing that was acknowledged and leaves nothing half done', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  const writer = onLeash(
    spawn(process.execPath, [WRITER, database.url], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  let output = '';
  writer.stdout.setEncoding('utf8');
  for await (const chunk of writer.stdout) {
    output += String(chunk);
    if (output.length > 10_000) writer.kill('SIGKILL');
  }
  if (writer.signalCode === null) await once(writer, 'exit');
  expect(writer.signalCode).toBe('SIGKILL');
  const acknowledged = output.split('\n').slice(0, -1);
  const rows = await database.query<{ line: string }>(
    "SELECT name || ' ' || revision AS line FROM revisions",
  );
  const stored = new Set(rows.map(({ line }) => line));
  expect(acknowledged.length).toBeGreaterThan(300);
  expect(acknowledged.filter((line) => !stored.has(line))).toEqual([]);
  const half = await database.query('SELECT revision FROM revisions EXCEPT SELECT revision FROM objects');
  expect(half).toEqual([]);
});

test('over a crash and restart of PostgreSQL every write is answered with the truth and every change arrives once', async () => {
  await using postgres = await startPrivatePostgres();
  const log = openLog(postgres.url);
  const stop = new AbortController();
  const recorder = new Recorder();
  const running = log.feed.run(NO_REVISION, recorder, stop.signal);
  const acknowledged: Revision[] = [];
  const writers = Array.from({ length: 10 }, async (_, writer) => {
    for (let n = 0; n < 60; n += 1) {
      acknowledged.push(await log.committer.commit(write('create', `${writer}-${n}`)));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });
  for (let crash = 0; crash < 2; crash += 1) {
    await new Promise((resolve) => setTimeout(resolve, 120));
    await postgres.kill();
    await postgres.start();
  }
  await Promise.all(writers);
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const { rows } = await client.query<{ revision: string }>(
    'SELECT revision FROM revisions ORDER BY revision',
  );
  await client.end();
  const expected = acknowledged.sort((a, b) => (a < b ? -1 : 1));
  expect(rows.map(({ revision }) => BigInt(revision))).toEqual(expected);
  await recorder.reached(expected.at(-1) ?? NO_REVISION);
  expect(recorder.changes.map(({ revision }) => revision)).toEqual(expected);
  stop.abort();
  await running;
  await log.close();
});

test('a write to a database that is gone for good is answered when the server closes', async () => {
  const postgres = await startPrivatePostgres();
  const log = openLog(postgres.url);
  const first = await log.committer.commit(write('create', 'a'));
  expect(first).toBeGreaterThan(NO_REVISION);
  await postgres.kill();
  // Unknown: it went to a connection whose end was not noticed yet.
  const waiting = expect(log.committer.commit(write('create', 'b'))).rejects.toMatchObject({
    failure: { kind: expect.stringMatching(/^(unavailable|unknown)$/) },
  });
  await new Promise((resolve) => setTimeout(resolve, 200));
  await log.close();
  await waiting;
  await postgres[Symbol.asyncDispose]();
});
