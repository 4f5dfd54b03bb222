// @module-tag long
import { expect, test } from 'vitest';
import { runMigrate } from '../kit/roles.ts';
import { createTestDatabase } from '../postgres.ts';

test('migrate lists what there is, shows what it would do, stops at the named migration, and does the rest', async () => {
  await using database = await createTestDatabase({ empty: true });
  const listed = await runMigrate(database.url, '--list');
  expect(listed.code).toBe(0);
  expect(listed.lines[0]).toBe('64 baseline: pending');
  expect(listed.lines).toContain('74 witnesses: pending; beside servers that know 34');
  expect(await database.query("SELECT to_regclass('schema_migrations') AS notes")).toEqual([{ notes: null }]);

  const part = await runMigrate(database.url, '--to=65');
  expect(part.lines.at(-1)).toBe('applied baseline, readers_types_never_meet_secrets');
  const preview = await runMigrate(database.url, '--dry-run');
  expect(preview.lines[0]).toBe('would apply 74 witnesses');
  expect((await runMigrate(database.url, '--dry-run', '--to', '75')).lines).toEqual([
    'would apply 74 witnesses',
    'would apply 75 rights_of_witnesses',
  ]);
  expect(await database.query("SELECT to_regclass('witnesses') AS witnesses")).toEqual([{ witnesses: null }]);
  expect((await runMigrate(database.url, '--to=65')).lines.at(-1)).toBe('the database is at migration 65');
  expect((await runMigrate(database.url)).code).toBe(0);
  expect((await runMigrate(database.url, '--dry-run')).lines).toEqual(['there is nothing to apply']);
  expect((await runMigrate(database.url, '--list')).lines).toContain(
    '74 witnesses: applied; beside servers that know 34',
  );
});

test('migrate says in one line what is wrong with its flags, and changes nothing', async () => {
  await using database = await createTestDatabase();
  const cases: [string[], number, RegExp][] = [
    [
      ['--to=new'],
      2,
      /^pg-apiserver: --to: "new" is not the number of a migration, such as 84: --list shows them$/,
    ],
    [['--to'], 2, /^pg-apiserver: --to: "" is not the number/],
    [['--to=-1'], 2, /^pg-apiserver: --to: "-1" is not the number/],
    [
      ['--to=29'],
      1,
      /^pg-apiserver: there is no migration 29: the newest is \d+, and --list shows all of them$/,
    ],
    [
      ['--to=64'],
      1,
      /^pg-apiserver: the database is at migration \d+ already, beyond 64: migrations go forward only$/,
    ],
    [
      ['--list', '--dry-run'],
      2,
      /^pg-apiserver: --list shows all migrations: it goes with neither --dry-run nor --to$/,
    ],
    [['--list=maybe'], 2, /^pg-apiserver: --list: "maybe" is neither true nor false$/],
  ];
  for (const [args, code, message] of cases) {
    const outcome = await runMigrate(database.url, ...args);
    expect(outcome.code).toBe(code);
    expect(outcome.stderr.trimEnd()).toMatch(message);
  }
});
