import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

export interface HeldWrites extends AsyncDisposable {
  /** Resolves when a server's write waits. */
  awaited(): Promise<void>;
  release(): Promise<void>;
}

/**
 * Takes the lock under which revisions are committed: reads go on, writes of every server wait until `release`. Held by
 * `await using` after the server, or a failed test would wait for a server that waits for the lock.
 */
export async function holdWrites(databaseUrl: string): Promise<HeldWrites> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('BEGIN');
  await client.query('LOCK TABLE commit_order IN EXCLUSIVE MODE');
  let released: Promise<void> | undefined;
  const release = (): Promise<void> => {
    released ??= client.end();
    return released;
  };
  return { release, awaited: () => untilSomebodyWaits(client), [Symbol.asyncDispose]: release };
}

async function untilSomebodyWaits(client: pg.Client): Promise<void> {
  const waiting = `
    SELECT FROM pg_locks
    WHERE relation = 'commit_order'::regclass AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  while ((await client.query(waiting)).rowCount === 0) await pause(10);
}
