import type pg from 'pg';

/** Runs `work` under a lock on keys that all servers share; it sees what earlier holders did. @throws what `work` throws */
export async function withKeyLock<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  try {
    // The holder is making a key, which may take any time.
    await client.query('SET LOCAL lock_timeout = 0');
    // A lock of the table: an advisory lock is one that every user of the database may take and keep.
    await client.query('LOCK TABLE cluster_keys IN SHARE ROW EXCLUSIVE MODE');
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}
