import pg from 'pg';
import { expect, vi } from 'vitest';

const PATIENCE = { timeout: 60_000, interval: 10 };

export interface Session extends AsyncDisposable {
  readonly url: string;
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
}

/** A connection beside those of the server. */
export async function connect(url: string): Promise<Session> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return {
    url,
    query: async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> =>
      (await client.query<Row>(text, values)).rows,
    [Symbol.asyncDispose]: () => client.end(),
  };
}

/** From now on commits wait for a standby that does not exist: their records are written, and their changes are not visible. */
export async function stallCommits(session: Session): Promise<void> {
  await setStandbys(session, 'nobody');
  while (!(await isStalling(session)));
}

/** The setting is one thing, and that PostgreSQL has begun to heed it another. */
async function isStalling(session: Session): Promise<boolean> {
  await using probe = await connect(session.url);
  await probe.query('SET synchronous_commit = on');
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  const commit = probe.query("SELECT pg_logical_emit_message(true, 'probe', '')").then(over, over);
  let pids: unknown[] = [];
  while (!isOver && pids.length === 0)
    pids = (await session.query<{ pid: number }>(STALLED)).map(({ pid }) => pid);
  for (const pid of pids) await session.query('SELECT pg_terminate_backend($1)', [pid]);
  await commit;
  return pids.length > 0;
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
