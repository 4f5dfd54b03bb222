import { chmodSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connectWritable } from '../../../src/storage/postgres/connection/connection.ts';
import { findPassword } from '../../../src/storage/postgres/connection/password-file.ts';
import { toRevision } from '../../../src/storage/revision.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { openLog, Recorder, write } from './kit.ts';

const TARGET = { host: 'db.example.com', port: 5432, database: 'cluster', user: 'server' };

test('the first line that fits counts; * fits all, and a backslash takes what follows as it is', () => {
  const find = (text: string): string | undefined => findPassword(text, TARGET);
  expect(find('db.example.com:5432:cluster:server:one\n*:*:*:*:two')).toBe('one');
  expect(
    find('# db.example.com:5432:cluster:server:no\nother:5432:cluster:server:no\r\n*:5432:*:server:yes\r\n'),
  ).toBe('yes');
  expect(find('*:*:*:server:a\\:b\\\\c:not this')).toBe('a:b\\c');
  expect(find('*:*:*:\\*:star')).toBeUndefined();
  expect(find('*:*:*:server')).toBeUndefined();
  expect(find('*:*:*:server:')).toBeUndefined();
  expect(findPassword('localhost:5432:cluster:server:x', { ...TARGET, host: '/run/postgresql' })).toBe('x');
});

interface Login {
  /** Without a password. */
  readonly url: string;
  /** Sets it in the database and, by default, in the file. */
  rotate(password: string): Promise<void>;
  writeFile(password: string): void;
  readonly file: string;
  drop(): Promise<unknown>;
}

async function createLogin(database: TestDatabase): Promise<Login> {
  const role = `${new URL(database.url).pathname.slice(1)}_login`;
  await database.query(`CREATE ROLE ${role} LOGIN SUPERUSER PASSWORD 'first'`);
  const file = join(mkdtempSync(join(tmpdir(), 'pg-apiserver-pass-')), 'pgpass');
  const writeFile = (password: string): void => {
    writeFileSync(file, `*:*:*:${role}:${password}\n`, { mode: 0o600 });
  };
  writeFile('first');
  const url = new URL(database.url);
  url.username = role;
  url.password = '';
  url.searchParams.set('passfile', file);
  return {
    url: url.href,
    file,
    writeFile,
    drop: () => database.query(`DROP ROLE ${role}`),
    rotate: async (password) => {
      await database.query(`ALTER ROLE ${role} PASSWORD '${password}'`);
      writeFile(password);
    },
  };
}

/** Ends every session of the login, as a service does that has rotated its password. */
const endSessions = (database: TestDatabase): Promise<unknown> =>
  database.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename LIKE 'test_%_login' AND datname = current_database()",
  );

test('commits, reads and the tail go on with a password that was rotated in its file', async () => {
  const database = await createTestDatabase();
  const login = await createLogin(database);
  const log = openLog(login.url);
  const recorder = new Recorder();
  const stop = new AbortController();
  const tail = log.feed.run(await log.reader.currentRevision(), recorder, stop.signal);
  await recorder.reached(toRevision(await log.committer.commit(write('create', 'one'))));
  await login.rotate('second');
  await endSessions(database);
  const revision = await log.committer.commit(write('create', 'two'));
  await recorder.reached(revision);
  expect(await log.reader.currentRevision()).toBe(revision);
  await log.reader.loadCurrent(
    (at) => expect(at).toBe(revision),
    () => {},
  );
  stop.abort();
  await tail;
  await log.close();
  await login.drop();
  await database.drop();
});

test('a write waits for a password file that is later than the database, over connections old and new', async () => {
  const database = await createTestDatabase();
  const login = await createLogin(database);
  const [old, fresh] = [openLog(login.url), openLog(login.url)];
  await old.committer.commit(write('create', 'one'));
  await login.rotate('second');
  login.writeFile('first');
  await endSessions(database);
  const waiting = [
    old.committer.commit(write('create', 'two')),
    fresh.committer.commit(write('create', 'three')),
  ];
  const unavailable = { failure: { kind: 'unavailable', reason: expect.stringContaining('password') } };
  await expect(fresh.reader.currentRevision()).rejects.toMatchObject(unavailable);
  login.writeFile('second');
  for (const revision of await Promise.all(waiting)) expect(revision).toBeGreaterThan(0n);
  await Promise.all([old.close(), fresh.close()]);
  await login.drop();
  await database.drop();
});

test('a file that others may read is not used, nor is one that is no plain file, and the error says so', async () => {
  const database = await createTestDatabase();
  const login = await createLogin(database);
  const connect = (url: string): Promise<unknown> => connectWritable({ urls: [url], poolSize: 1 }, 'test');
  chmodSync(login.file, 0o640);
  await expect(connect(login.url)).rejects.toThrow(`chmod 600 ${login.file}`);
  const missing = new URL(login.url);
  missing.searchParams.set('passfile', '/nowhere');
  await expect(connect(missing.href)).rejects.toThrow(
    /write it into the URL, PGPASSWORD, or .* password file; .*\/nowhere cannot be read: there is no such file/,
  );
  missing.searchParams.set('passfile', tmpdir());
  await expect(connect(missing.href)).rejects.toThrow('is not a plain file');
  const linked = `${login.file}-link`;
  chmodSync(login.file, 0o600);
  symlinkSync(login.file, linked);
  missing.searchParams.set('passfile', linked);
  const connection = await connectWritable({ urls: [missing.href], poolSize: 1 }, 'test');
  await connection.close();
  await login.drop();
  await database.drop();
});
