import type pg from 'pg';
import { expect, test } from 'vitest';
import { prepare, type Queryable, tables } from '../../../src/storage/postgres/connection/prepared.ts';

function recorder(): { client: Queryable; sent: pg.QueryConfig[] } {
  const sent: pg.QueryConfig[] = [];
  const query = async (config: pg.QueryConfig) => {
    sent.push(config);
    return { rows: [], rowCount: 0, command: '', oid: 0, fields: [] };
  };
  return { client: { query }, sent };
}

const FIND = prepare(
  (of: { readonly name: string; readonly after: string; readonly limit: number }) =>
    tables
      .selectFrom('revisions')
      .select('revision')
      .where('revision', '>', of.after)
      .where('verb', '=', 'create')
      .where('name', '=', of.name)
      .limit(of.limit),
  'find',
);

test('a statement is written once, and its values come in the order of their places', async () => {
  const { client, sent } = recorder();
  await FIND.run(client, { name: 'a', after: '7', limit: 2 });
  await FIND.run(client, { limit: 3, after: '8', name: "b'; DROP TABLE revisions" });
  expect(sent.map(({ values }) => values)).toEqual([
    ['7', 'create', 'a', 2],
    ['8', 'create', "b'; DROP TABLE revisions", 3],
  ]);
  expect(new Set(sent.map(({ text }) => text))).toEqual(new Set([FIND.text]));
  expect(FIND.text).toContain('"revision" > $1 and "verb" = $2 and "name" = $3 limit $4');
});

test('what PostgreSQL cannot hold as text is asked for as what nothing is called', async () => {
  const { client, sent } = recorder();
  await FIND.run(client, { name: 'a\0b\0', after: '7', limit: 2 });
  expect(sent[0]?.values).toEqual(['7', 'create', 'a\u0001b\u0001', 2]);
});

test('a statement goes by its name only where a session is known to be our own', async () => {
  const { client, sent } = recorder();
  const values = { name: 'a', after: '7', limit: 2 };
  await FIND.run(client, values, true);
  await FIND.run(client, values, false);
  await FIND.run(client, values);
  expect(sent.map(({ name }) => name)).toEqual(['find', undefined, undefined]);
});
