// @module-tag long
import { expect, test } from 'vitest';
import type { Revision } from '../../../src/storage/revision.ts';
import { createTestDatabase } from '../../postgres.ts';
import { keepHistory, openLog, write } from './kit.ts';
import { makeHistory, pagesOf } from './made-history.ts';

const OBJECTS = 200;
const ROUNDS = 200;

test('a namespace is shown as it was, and a resource of it, and what belongs to no namespace', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const commit = (resource: string, namespace: string, name: string): Promise<Revision> => {
    const made = write('create', name);
    return log.committer.commit({ ...made, key: { ...made.key, resource, namespace } });
  };
  for (const [resource, namespace, name] of [
    ['configmaps', 'shop', 'settings'],
    ['pods', 'shop', 'web'],
    ['pods', 'other', 'web'],
    ['nodes', '', 'node'],
  ] as const) {
    await commit(resource, namespace, name);
  }
  const last = await commit('secrets', 'shop', 'last');
  await commit('pods', 'shop', 'later');
  const of = async (more: string): Promise<unknown> => {
    const rows = await database.query<{ what: string }>(
      `SELECT resource || ' ' || name AS what FROM cluster_at(${last}, ${more}) ORDER BY 1`,
    );
    return rows.map(({ what }) => what);
  };
  expect(await of("of_namespace => 'shop'")).toEqual(['configmaps settings', 'pods web', 'secrets last']);
  expect(await of("of_namespace => 'shop', of_resource => 'pods'")).toEqual(['pods web']);
  expect(await of("of_namespace => 'shop', of_resource => 'pods', of_group => 'apps'")).toEqual([]);
  expect(await of("of_namespace => ''")).toEqual(['nodes node']);
  await log.close();
});

test.each(['nothing', 'what it is', 'what it was before its objects came'])(
  'a namespace at a moment costs what its objects cost, however much history there is; PostgreSQL knows of it: %s',
  async (known) => {
    await using database = await createTestDatabase();
    await keepHistory(database, '1 hour');
    await database.query('ALTER TABLE objects SET (autovacuum_enabled = off)');
    if (known === 'what it was before its objects came') await database.query('ANALYZE');
    const before = await makeHistory(database, { resource: 'configmaps', objects: OBJECTS, rounds: ROUNDS });
    const pods = await makeHistory(database, { resource: 'pods', objects: 5, rounds: 20, namespace: 'shop' });
    if (known === 'what it is') await database.query('ANALYZE');
    for (const at of [`${before + OBJECTS * 2}`, `${pods + 20}`, 'clock_timestamp()']) {
      for (const more of ["of_namespace => 'shop'", "of_namespace => 'shop', of_resource => 'pods'"]) {
        const pages = await pagesOf(database, `SELECT * FROM cluster_at(${at}, ${more})`);
        // Of more than 2,500.
        expect(pages, `${at}, ${more}`).toBeLessThan(400);
      }
    }
  },
);

test('the cluster at a moment looks for the moment once, not once a row', async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '1 hour');
  const before = await makeHistory(database, { resource: 'configmaps', objects: OBJECTS, rounds: ROUNDS });
  await database.query(
    `UPDATE revisions SET committed_at = now() - interval '10 minutes' WHERE revision <= ${before + OBJECTS * 10}`,
  );
  await database.query('VACUUM ANALYZE');
  const text = `SELECT * FROM cluster_at(now() - interval '5 minutes')`;
  expect(await database.query(text)).toHaveLength(OBJECTS);
  expect(await pagesOf(database, text)).toBeLessThan(OBJECTS * ROUNDS);
});
