import type pg from 'pg';

/** Runs `work` under a lock on keys that all servers share; it sees what earlier holders did. @throws what `work` throws */
export async function withKeyLock<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  try {
    // The holder is making a key, which may take any time.
    await client.query('SET LOCAL lock_timeout = 0');
    await client.query("SELECT pg_advisory_xact_lock(hashtext('pg-apiserver'), hashtext('cluster keys'))");
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}
