import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { TestRoles } from '../kit/roles.ts';
import { createTestDatabase } from '../postgres.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** What is built, as a process of its own. */
function doctor(...args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, 'doctor', ...args], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test('doctor ends with 0 where a server can start, by URL or by flag', { tags: 'long' }, async () => {
  await using database = await createTestDatabase({ empty: true });
  for (const argument of [database.url, `--kvstore-servers=${database.url}`])
    expect(doctor(argument)).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^fine {5}PostgreSQL \d[\s\S]*\na server can be started on this\n$/m),
      stderr: '',
    });
});

test('doctor ends with 1 where something is missing, and names it', { tags: 'long' }, async () => {
  await using database = await createTestDatabase({ empty: true });
  await using roles = new TestRoles(database);
  await database.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  expect(doctor(await roles.make('guest'))).toMatchObject({
    status: 1,
    stdout: expect.stringMatching(/^lacks {4}the database was not migrated yet/m),
    stderr: 'pg-apiserver: 1 requirement is missing, as above\n',
  });
  const absent = new URL(database.url);
  absent.pathname = '/absent';
  expect(doctor(absent.href)).toMatchObject({
    status: 1,
    stdout: expect.stringContaining('lacks    database "absent" does not exist: create it'),
  });
});

test('doctor ends with 2 on a word that is no database, and shows no password', () => {
  expect(doctor('mysql://user:secret@host/database')).toEqual({
    status: 2,
    stdout: '',
    stderr: 'pg-apiserver: doctor: "mysql://user:…@host/database" does not begin with postgres://\n',
  });
});
