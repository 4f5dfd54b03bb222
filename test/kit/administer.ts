import pg from 'pg';

const OBJECT_IN_USE = '55006';

/** A tail that was cut off may still hold its slot for a moment, which PostgreSQL does not end by force. */
export async function dropDatabase(adminUrl: string, name: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await administer(adminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    } catch (error) {
      if ((error as { code?: string }).code !== OBJECT_IN_USE || tries >= 40) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}

/** Runs a statement that PostgreSQL runs outside of transactions. */
export async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  // Two test files may copy the template at the same moment, which PostgreSQL refuses: they take turns.
  try {
    await client.query("SELECT pg_advisory_lock(hashtext('pg-apiserver tests'))");
    await client.query(statement);
  } finally {
    await client.end();
  }
}
