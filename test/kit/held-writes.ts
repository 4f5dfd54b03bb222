import pg from 'pg';

/** Takes the lock under which revisions are committed: reads go on, writes of every server wait until `release`. */
export async function holdWrites(databaseUrl: string): Promise<{ release(): Promise<void> }> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query("SELECT pg_advisory_lock(hashtext('pg-apiserver'), hashtext('commit_revisions'))");
  return { release: () => client.end() };
}
