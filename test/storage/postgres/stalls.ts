import pg from 'pg';
import { expect, vi } from 'vitest';

const PATIENCE = { timeout: 10_000, interval: 10 };

export interface Session extends AsyncDisposable {
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
}

/** A connection beside those of the server. */
export async function connect(url: string): Promise<Session> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return {
    query: async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> =>
      (await client.query<Row>(text, values)).rows,
    [Symbol.asyncDispose]: () => client.end(),
  };
}

/** From now on commits wait for a standby that nobody is: their records are written, and nobody sees what they did. */
export async function stallCommits(session: Session): Promise<void> {
  await setStandbys(session, 'nobody');
}

export async function releaseCommits(session: Session): Promise<void> {
  await setStandbys(session, '');
}

async function setStandbys(session: Session, names: string): Promise<void> {
  await session.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
  await session.query('SELECT pg_reload_conf()');
  const shown = 'SHOW synchronous_standby_names';
  await vi.waitFor(
    async () => expect(await session.query(shown)).toEqual([{ synchronous_standby_names: names }]),
    PATIENCE,
  );
}

const STALLED = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'";

/** Resolves when `count` commits wait for the standby. */
export async function stalled(session: Session, count = 1): Promise<void> {
  await vi.waitFor(async () => expect(await session.query(STALLED)).toHaveLength(count), PATIENCE);
}
