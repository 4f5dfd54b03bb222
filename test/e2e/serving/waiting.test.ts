// @module-tag long
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { expect, test } from 'vitest';
import { freePort } from '../../../src/cli/embedded/embedded-postgres.ts';
import { eventually } from '../../kit/connections.ts';
import { startRefusingProxy } from '../../kit/refusing-proxy.ts';
import { createTestDatabase } from '../../postgres.ts';

const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

interface Process extends AsyncDisposable {
  readonly output: { stdout: string; stderr: string };
  signal(signal: NodeJS.Signals): void;
  readonly ended: Promise<number | null>;
}

/** The program as it is started, whether or not it becomes ready. */
function run(...args: readonly string[]): Process {
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-waiting-'));
  const child = spawn(process.execPath, [MAIN, ...args, `--data-dir=${folder}`, '--bind-address=127.0.0.1']);
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    output.stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output.stderr += chunk.toString();
  });
  const ended = once(child, 'close').then(([code]: (number | null)[]) => code ?? null);
  return {
    output,
    ended,
    signal: (signal) => void child.kill(signal),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const STARTING = { code: '57P03', message: 'the database system is starting up' };
const CROWDED = { code: '53300', message: 'sorry, too many clients already' };

test('a server waits for a database that starts, is full, or hangs up, and logs lines, not traces', async () => {
  await using database = await createTestDatabase({ empty: true });
  await using proxy = await startRefusingProxy(database.url, [STARTING, STARTING, 'hang up', CROWDED]);
  await using server = run(`--kvstore-servers=${proxy.url}`, `--secure-port=${await freePort()}`);
  await eventually(() => expect(server.output.stdout).toContain('kubectl get namespaces'));
  expect(proxy.refused).toBe(4);
  expect(server.output.stdout).toContain('waiting for the database: the database system is starting up\n');
  expect(server.output.stdout.match(/waiting for the database/g)).toHaveLength(1);
  expect(server.output.stdout + server.output.stderr).not.toMatch(/^ +at /m);
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);
});

test('a server that waits for its database ends on a signal', async () => {
  const host = `127.0.0.1:${await freePort()}`;
  await using server = run(`--kvstore-servers=postgres://a:b@${host}/a`, `--secure-port=${await freePort()}`);
  await eventually(() =>
    expect(server.output.stdout).toContain(
      `waiting for the database: ${host}: nothing answers there: start it, or correct the address\n`,
    ),
  );
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);
});

test('a server whose port is open, and whose start the database delays, ends on a signal', async () => {
  await using database = await createTestDatabase();
  const blocker = new pg.Client({ connectionString: database.url });
  await blocker.connect();
  await blocker.query('BEGIN; LOCK TABLE objects IN ACCESS EXCLUSIVE MODE');
  const port = await freePort();
  await using server = run(`--kvstore-servers=${database.url}`, `--secure-port=${port}`);
  await eventually(async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
  });
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);
  expect(server.output.stderr).toContain('stopping before the start was finished\n');
  await blocker.end();
});

test('a server waits for a database whose name does not resolve', async () => {
  await using server = run(
    '--kvstore-servers=postgres://a:b@database.invalid/a',
    `--secure-port=${await freePort()}`,
  );
  await eventually(() =>
    expect(server.output.stdout).toMatch(
      /waiting for the database: database\.invalid: (no address is known for this name: correct it|names are not resolved at the moment: look at DNS, or give an address)\n/,
    ),
  );
  server.signal('SIGINT');
  expect(await server.ended).toBe(0);
});

test('a start waits for storage no longer than the flags say: for an answer, and for the objects', async () => {
  const nobody = `postgres://a:b@127.0.0.1:${await freePort()}/a`;
  await using database = await createTestDatabase();
  const blocker = new pg.Client({ connectionString: database.url });
  blocker.on('error', () => {});
  await blocker.connect();
  await blocker.query('BEGIN; LOCK TABLE objects IN ACCESS EXCLUSIVE MODE');
  const start = async (url: string): Promise<Process> =>
    run(
      `--kvstore-servers=${url}`,
      `--secure-port=${await freePort()}`,
      '--storage-initialization-timeout=700ms',
    );
  await using unanswered = await start(nobody);
  await using unread = await start(database.url);
  expect([await unanswered.ended, await unread.ended]).toEqual([1, 1]);
  expect(unanswered.output.stderr).toMatch(
    /^pg-apiserver: the database did not answer within 0\.7 s \(--storage-initialization-timeout\): \S+: nothing answers there/,
  );
  expect(unread.output.stderr).toContain(
    'pg-apiserver: the objects of the cluster were not read within 0.7 s (--storage-initialization-timeout)\n',
  );
  await blocker.end();
});

test('what waiting does not mend ends the start at once, in one line that says what to change', async () => {
  await using database = await createTestDatabase({ empty: true });
  const wrong = new URL(database.url);
  wrong.pathname = '/nowhere';
  await using server = run(`--kvstore-servers=${wrong.href}`, `--secure-port=${await freePort()}`);
  expect(await server.ended).toBe(1);
  expect(server.output.stderr).toBe(
    'pg-apiserver: database "nowhere" does not exist: create it (CREATE DATABASE), or name another one in --kvstore-servers\n',
  );
  expect(server.output.stdout).not.toContain('waiting');
});

test('migrate waits too, does its work when the database is there, and has failed when it is stopped before', async () => {
  await using database = await createTestDatabase({ empty: true });
  await using proxy = await startRefusingProxy(database.url, [STARTING, CROWDED]);
  await using migrating = run('migrate', `--kvstore-servers=${proxy.url}`);
  expect(await migrating.ended).toBe(0);
  expect(migrating.output.stderr).toBe('waiting for the database: the database system is starting up\n');
  expect(migrating.output.stdout).toContain('applied ');
  const nobody = `postgres://a:b@127.0.0.1:${await freePort()}/a`;
  await using stopped = run('migrate', `--kvstore-servers=${nobody}`);
  await eventually(() => expect(stopped.output.stderr).toContain('waiting for the database'));
  stopped.signal('SIGTERM');
  expect(await stopped.ended).toBe(1);
  expect(stopped.output.stderr).toContain('pg-apiserver: stopped by SIGTERM\n');
});
