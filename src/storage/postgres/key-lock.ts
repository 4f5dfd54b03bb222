import type pg from 'pg';

/** One at a time changes keys that all servers share; whoever waits then sees what the one before it did. @throws what `work` throws */
export async function withKeyLock<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  try {
    // Whoever has it is making a key, which takes as long as the machine takes.
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
