import pg from 'pg';
import type { StoredValue } from './stored-values.ts';

const PAGE = 1000;

/** The newest row of each name, at one snapshot; deletions are rows too (k3s-io/kine, pkg/drivers/generic). */
const LIVE = `
  SELECT name, value FROM (
    SELECT DISTINCT ON (name) name, value, deleted FROM kine
    WHERE name > $1 AND name LIKE '/registry/%' ORDER BY name, id DESC
  ) AS newest
  WHERE deleted = 0 ORDER BY name LIMIT ${PAGE}`;

/** Reads the table that kine keeps in a PostgreSQL database. @throws Error when there is no such table */
export async function* readKine(url: string): AsyncGenerator<StoredValue> {
  const client = new pg.Client({ connectionString: url, application_name: 'pg-apiserver import' });
  // A lost connection is the error of the query under way.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    let after = '';
    for (;;) {
      const { rows } = await client.query<{ name: string; value: Buffer }>(LIVE, [after]);
      for (const { name, value } of rows) yield { key: name, value };
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.name;
    }
  } finally {
    await client.end();
  }
}
