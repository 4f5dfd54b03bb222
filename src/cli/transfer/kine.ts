import pg from 'pg';
import { isOld } from '../database.ts';
import type { StoredValue } from './stored-values.ts';

/**
 * The newest row of each name, at one snapshot; deletions are rows too (k3s-io/kine, pkg/drivers/generic). Pages by name were
 * rejected: without fresh statistics PostgreSQL sorts the table for each of them, which made 100,000 objects take 20 s.
 */
const BEGIN = `
  DECLARE live NO SCROLL CURSOR FOR
  SELECT name, value FROM (
    SELECT DISTINCT ON (name) name, value, deleted FROM kine WHERE name LIKE '/registry/%' ORDER BY name, id DESC
  ) AS newest
  WHERE deleted = 0`;
const NO_KINE = 'the database has no table kine: name the database that kine keeps, and ?kine behind it';
const NEXT = 'FETCH 1000 FROM live';

/** Reads the table that kine keeps in a PostgreSQL database. @throws Error when there is no such table */
export async function* readKine(url: string): AsyncGenerator<StoredValue> {
  const client = new pg.Client({ connectionString: url, application_name: 'pg-apiserver import' });
  // A lost connection is the error of the query under way.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await client.query(BEGIN).catch((error: unknown) => {
      if (isOld(error)) throw new Error(NO_KINE, { cause: error });
      throw error;
    });
    for (;;) {
      const { rows } = await client.query<{ name: string; value: Buffer }>(NEXT);
      if (rows.length === 0) return;
      for (const { name, value } of rows) yield { key: name, value };
    }
  } finally {
    await client.end();
  }
}
