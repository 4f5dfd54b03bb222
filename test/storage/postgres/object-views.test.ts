import pg from 'pg';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/api/object-meta.ts';
import type { ObjectView, ViewColumn } from '../../../src/storage/object-views.ts';
import type { PostgresLog } from '../../../src/storage/postgres/postgres.ts';
import { setUpDatabase } from '../../../src/storage/postgres/setup.ts';
import type { Write } from '../../../src/storage/revision-log.ts';
import { TestRoles } from '../../kit/roles.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { openLog, write } from './kit.ts';

const GROUP = 'example.com';
const WIDGETS = { group: GROUP, resource: 'widgets' };

const column = (name: string, type: ViewColumn['type'], ...path: string[]): ViewColumn => ({
  name,
  path,
  type,
});

const VIEW: ObjectView = {
  ...WIDGETS,
  columns: [
    column('size', 'integer', 'spec', 'size'),
    column('share', 'number', 'spec', 'share'),
    column('isOn', 'boolean', 'spec', 'on'),
    column('color', 'string', 'spec', 'color'),
    column('first_tag', 'string', 'spec', 'tags', '0'),
    column('age', 'date', 'metadata', 'creationTimestamp'),
    {
      ...column('ready', 'string', 'status'),
      item: { path: ['status', 'conditions'], key: 'type', value: "R'eady" },
    },
  ],
};

function widget(name: string, spec: JsonObject, resource = WIDGETS, more: JsonObject = {}): Write {
  const metadata = { name, namespace: 'default', creationTimestamp: '2026-01-02T03:04:05Z' };
  const object = { kind: 'Widget', apiVersion: `${resource.group}/v1`, metadata, spec, ...more };
  return {
    ...write('create', name),
    key: { ...resource, namespace: 'default', name },
    json: Buffer.from(JSON.stringify(object)),
  };
}

const commit = ({ committer }: PostgresLog, ...writes: Write[]): Promise<unknown> =>
  Promise.all(writes.map((one) => committer.commit(one)));

async function opened() {
  const database = await createTestDatabase();
  const log = openLog(database.url);
  return {
    ...{ database, log, views: log.views },
    [Symbol.asyncDispose]: async () => {
      await log.close();
      await database.drop();
    },
  };
}

const viewsOf = async (database: TestDatabase): Promise<string[]> => {
  const rows = await database.query<{ name: string }>(
    "SELECT viewname AS name FROM pg_views WHERE schemaname = 'crd' ORDER BY 1",
  );
  return rows.map(({ name }) => name);
};

test('a view has name, namespace, the columns in their types, and the object', async () => {
  await using at = await opened();
  const conditions = [
    { type: 'Other', status: 'no' },
    { type: "R'eady", status: 'yes' },
  ];
  await commit(
    at.log,
    widget('a', { size: 3, share: 1.5, on: true, color: 'red', tags: ['x', 'y'] }, WIDGETS, {
      status: { conditions },
    }),
  );
  expect(await at.views.put(VIEW)).toBe('made');
  const rows = await at.database.query('SELECT * FROM crd.widgets');
  expect(rows).toEqual([
    {
      namespace: 'default',
      name: 'a',
      size: '3',
      share: '1.5',
      isOn: true,
      color: 'red',
      first_tag: 'x',
      age: new Date('2026-01-02T03:04:05Z'),
      ready: 'yes',
      object: expect.objectContaining({ kind: 'Widget' }),
    },
  ]);
  expect(await at.database.query('SELECT * FROM crd."widgets.example.com"')).toEqual(rows);
});

test('no value of an object makes a view fail', async () => {
  await using at = await opened();
  const values = [
    ...[
      'x',
      '',
      '1e999999',
      '99999999999999999999999',
      '2026-02-31T00:00:00Z',
      '\u0000',
      "'; DROP TABLE x; --",
    ],
    ...[null, 1e30, -0, true, [], {}, [[]], { a: '\u0000' }, 12345678901234567890n.toString()],
  ];
  const columns = ['integer', 'number', 'boolean', 'string', 'date'] as const;
  await at.views.put({ ...WIDGETS, columns: columns.map((type) => column(type, type, 'spec', 'v')) });
  await commit(at.log, ...values.map((v, n) => widget(`w${n}`, { v })));
  const rows = await at.database.query('SELECT * FROM crd.widgets');
  expect(rows).toHaveLength(values.length);
  await at.database.query('SELECT name FROM crd.widgets WHERE integer > 1 OR number > 1 OR date > now()');
});

test('names and values from definitions are quoted, with all characters', async () => {
  await using at = await opened();
  const hostile = [
    '"',
    "'",
    "'); DROP TABLE objects; --",
    '$$',
    'select',
    '%I',
    '%s%s',
    '\\',
    'a"b',
    '{',
    '}',
    ',',
    'NULL',
    ' ',
  ];
  const columns = hostile.map(
    (name, n): ViewColumn => ({
      name: `${n}${name}`,
      path: [name, '"', "'", '{}', ''],
      type: 'string',
      item: { path: [name, "'"], key: name, value: name },
    }),
  );
  expect(await at.views.put({ group: 'exa\'m"ple.com', resource: 'wid"gets', columns })).toBe('made');
  const result = await at.database.query('SELECT * FROM crd."wid""gets"');
  expect(result).toEqual([]);
  const rows = await at.database.query<{ name: string }>(
    'SELECT attname AS name FROM pg_attribute WHERE attrelid = \'crd."wid""gets"\'::regclass AND attnum > 0 ORDER BY attnum',
  );
  expect(rows.map(({ name }) => name)).toEqual([
    'namespace',
    'name',
    ...columns.map(({ name }) => name),
    'object',
  ]);
});

test('the short name is that of the first, and of another one when that is gone', async () => {
  await using at = await opened();
  const other = { group: 'other.example.com', resource: 'widgets' };
  await commit(at.log, widget('mine', {}), widget('theirs', {}, other));
  await at.views.put(VIEW);
  expect(await at.views.put({ ...other, columns: [] })).toBe('made');
  const names = (): Promise<unknown[]> => at.database.query('SELECT name FROM crd.widgets');
  expect(await names()).toEqual([{ name: 'mine' }]);
  expect(await at.database.query('SELECT name FROM crd."widgets.other.example.com"')).toEqual([
    { name: 'theirs' },
  ]);
  expect(await at.views.drop(WIDGETS)).toBe('dropped');
  expect(await viewsOf(at.database)).toEqual(['widgets.other.example.com']);
  expect(await at.views.put({ ...other, columns: [] })).toBe('made');
  expect(await names()).toEqual([{ name: 'theirs' }]);
  expect(await at.views.list()).toEqual(['widgets.other.example.com']);
});

test('names that PostgreSQL would cut off stay apart', async () => {
  await using at = await opened();
  const groups = ['a', 'b'].map((end) => `${'long.'.repeat(14)}${end}.example.com`);
  for (const group of groups)
    expect(await at.views.put({ group, resource: 'widgets', columns: [] })).toBe('made');
  expect(await viewsOf(at.database)).toHaveLength(3);
  for (const group of groups)
    expect(await at.views.put({ group, resource: 'widgets', columns: [] })).toBe('nothing');
});

test('a view that is as it should be is not made anew, and a changed one is', async () => {
  await using at = await opened();
  const oids = (): Promise<unknown[]> =>
    at.database.query("SELECT oid FROM pg_class WHERE relnamespace = 'crd'::regnamespace ORDER BY relname");
  await at.views.put(VIEW);
  const before = await oids();
  expect(await at.views.put(VIEW)).toBe('nothing');
  expect(await oids()).toEqual(before);
  expect(await at.views.put({ ...VIEW, columns: [column('color', 'string', 'spec', 'colour')] })).toBe(
    'made',
  );
  const [row] = await at.database.query<{ columns: string }>(
    "SELECT string_agg(attname, ' ' ORDER BY attnum) AS columns FROM pg_attribute WHERE attrelid = 'crd.widgets'::regclass",
  );
  expect(row?.columns).toContain('namespace name color object');
});

test('what people made in the schema is left alone, and what they made of a view keeps it', async () => {
  await using at = await opened();
  await at.views.put({ ...WIDGETS, resource: 'others', columns: [] });
  await at.database.query('CREATE VIEW crd.widgets AS SELECT 1 AS mine');
  await at.views.put(VIEW);
  expect(await at.database.query('SELECT * FROM crd.widgets')).toEqual([{ mine: 1 }]);
  await at.database.query('CREATE VIEW of_mine AS SELECT name FROM crd."widgets.example.com"');
  expect(await at.views.put({ ...VIEW, columns: [] })).toBe('kept');
  expect(await at.views.drop(WIDGETS)).toBe('kept');
  expect(await at.database.query('SELECT * FROM of_mine')).toEqual([]);
});

test('several servers may do it at once', async () => {
  await using at = await opened();
  const resources = Array.from({ length: 8 }, (_, n) => ({ ...VIEW, resource: `r${n % 4}s` }));
  const outcomes = await Promise.all(resources.map((view) => at.views.put(view)));
  expect(outcomes.filter((outcome) => outcome === 'made')).toHaveLength(4);
  expect(await viewsOf(at.database)).toHaveLength(8);
  await Promise.all(resources.map((view) => at.views.drop(view)));
  expect(await viewsOf(at.database)).toEqual([]);
});

const DENIED = '42501';

async function attempt(url: string, text: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return JSON.stringify((await client.query(text)).rows);
  } catch (error) {
    return error instanceof pg.DatabaseError ? (error.code ?? '') : String(error);
  } finally {
    await client.end();
  }
}

test('of three roles the server makes views, and the reader alone reads them', { tags: 'long' }, async () => {
  await using database = await createTestDatabase({ empty: true });
  await using roles = new TestRoles(database);
  const { prefix } = roles;
  const names = { migrator: `${prefix}_migrator`, server: `${prefix}_server`, reader: `${prefix}_reader` };
  await setUpDatabase({ urls: [database.url], poolSize: 1 }, (at) => at.makeRoles(names, { say: () => {} }));
  const [server, reader] = [await roles.urlOf('server'), await roles.urlOf('reader')];
  const stranger = await roles.make('stranger');
  const log = openLog(server);
  await commit(log, widget('a', { size: 3 }));
  expect(await log.views.put(VIEW)).toBe('made');
  expect(await log.views.list()).toEqual(['widgets.example.com']);
  const read = 'SELECT name, size FROM crd.widgets';
  expect(await attempt(reader, read)).toBe('[{"name":"a","size":"3"}]');
  expect(await attempt(stranger, read)).toBe(DENIED);
  for (const url of [reader, stranger]) {
    expect(await attempt(url, "SELECT put_custom_resource_view('a.b', 'cs', '[]', '')")).toBe(DENIED);
    expect(await attempt(url, "SELECT drop_custom_resource_view('example.com', 'widgets')")).toBe(DENIED);
    expect(await attempt(url, 'CREATE VIEW crd.mine AS SELECT 1')).toBe(DENIED);
  }
  expect(await attempt(server, 'CREATE VIEW crd.mine AS SELECT 1')).toBe(DENIED);
  await database.query(`REVOKE SELECT ON current_objects FROM ${names.reader}`);
  expect(await attempt(reader, read)).toBe('[]');
  expect(await log.views.drop(WIDGETS)).toBe('dropped');
  await log.close();
});

test('a view of Secrets, which only a hostile server could ask for, shows no more than current_objects does', async () => {
  await using database = await createTestDatabase({ empty: true });
  await using roles = new TestRoles(database);
  const { prefix } = roles;
  const names = { migrator: `${prefix}_migrator`, server: `${prefix}_server`, reader: `${prefix}_reader` };
  await setUpDatabase({ urls: [database.url], poolSize: 1 }, (at) => at.makeRoles(names, { say: () => {} }));
  const log = openLog(await roles.urlOf('server'));
  await commit(log, widget('s', {}, { group: '', resource: 'secrets' }, { data: { key: 'hush' } }));
  await log.views.put({ group: '', resource: 'secrets', columns: [column('key', 'string', 'data', 'key')] });
  const shown = await attempt(await roles.urlOf('reader'), 'SELECT * FROM crd.secrets');
  expect(shown).toContain('"name":"s"');
  expect(shown).not.toContain('hush');
  await log.close();
});

test('a schema of that name with another owner is an error that says so', async () => {
  await using database = await createTestDatabase({ empty: true });
  await using roles = new TestRoles(database);
  const { prefix } = roles;
  const names = { migrator: `${prefix}_migrator`, server: `${prefix}_server`, reader: `${prefix}_reader` };
  await setUpDatabase({ urls: [database.url], poolSize: 1 }, (at) => at.makeRoles(names, { say: () => {} }));
  await database.query('CREATE SCHEMA crd');
  const log = openLog(await roles.urlOf('server'));
  await expect(log.views.put(VIEW)).rejects.toThrow(/^the schema crd, .* belongs to /);
  await log.close();
});
