// @module-tag long
import type pg from 'pg';
import { expect, test } from 'vitest';
import { LIST_AT } from '../../../src/storage/postgres/read/past-queries.ts';
import type { Revision } from '../../../src/storage/revision.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { beginPartition, keepHistory, openLog, write } from './kit.ts';
import { makeHistory, pagesOf } from './made-history.ts';

const resource = { group: '', resource: 'configmaps' };

test('pages of the past hold what was there then, and count what is left', async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '1 hour');
  const log = openLog(database.url);
  const live = new Map<string, Revision>();
  const then: { revision: Revision; names: string[] }[] = [];
  for (let turn = 0; turn < 60; turn += 1) {
    // Some are written often, some once, some are deleted and come again.
    const name = `n${(turn * turn) % 11}`;
    const expected = live.get(name);
    const verb = expected === undefined ? 'create' : turn % 4 === 0 ? 'delete' : 'update';
    const revision = await log.committer.commit(write(verb, name, expected));
    if (verb === 'delete') live.delete(name);
    else live.set(name, revision);
    then.push({ revision, names: [...live.keys()].toSorted() });
    if (turn % 20 === 19) await beginPartition(database);
  }
  for (const { revision, names } of then) {
    const found: string[] = [];
    for (let after = ''; ; after = `default\0${found.at(-1)}`) {
      const scope = { namespace: 'default' };
      const page = await log.reader.listAt({
        resource,
        scope,
        revision,
        limit: 2,
        ...(after === '' ? {} : { after }),
      });
      found.push(...page.objects.map(({ key }) => key.name));
      expect(page.remaining, `at ${revision}`).toBe(names.length - found.length);
      if (page.remaining === 0) break;
    }
    expect(found, `at ${revision}`).toEqual(names);
  }
  await log.close();
});

const PAGE = 20;
const OBJECTS = 200;
const ROUNDS = 200;

/** Pages of 8 kB that the database looks at for one page of the list. */
async function pagesOfList(database: TestDatabase, revision: number): Promise<number> {
  let pages = Number.NaN;
  const client = {
    query: async <Row extends pg.QueryResultRow>({
      text,
      values,
    }: pg.QueryConfig): Promise<pg.QueryResult<Row>> => {
      pages = await pagesOf(database, text, values);
      return { rows: [], command: '', rowCount: 0, oid: 0, fields: [] };
    },
  };
  const from = { namespace: null, name: null, afterNamespace: '', afterName: '', revision: String(revision) };
  await LIST_AT.run(client, { ...resource, ...from, limit: PAGE });
  return pages;
}

test.each(['nothing', 'what it is', 'what it was before its objects came'])(
  'a page of the past costs what its objects cost, however often they were written; PostgreSQL knows of the log: %s',
  async (known) => {
    await using database = await createTestDatabase();
    await database.query('ALTER TABLE objects SET (autovacuum_enabled = off)');
    if (known === 'what it was before its objects came') {
      await makeHistory(database, { resource: 'leases', objects: 100, rounds: 20 });
      await database.query('ANALYZE');
    }
    const before = await makeHistory(database, { resource: 'configmaps', objects: OBJECTS, rounds: ROUNDS });
    if (known === 'what it is') await database.query('ANALYZE');
    for (const behind of [0, 10, OBJECTS / 2, OBJECTS, OBJECTS * 5, OBJECTS * 100]) {
      const pages = await pagesOfList(database, before + OBJECTS * ROUNDS - behind);
      // For each object some indexes of three levels, itself, and what it was.
      expect(pages, `${behind} writes ago`).toBeLessThan(PAGE * 60);
    }
  },
);
