import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { findWrites } from '../../../src/storage/postgres/commit/commit.ts';
import { connectWritable } from '../../../src/storage/postgres/connection/connection.ts';
import { NO_REVISION } from '../../../src/storage/revision.ts';
import { startDatabaseProxy } from '../../kit/database-proxy.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { createTestDatabase } from '../../postgres.ts';
import { openLog, write } from './kit.ts';

const INSUFFICIENT_PRIVILEGE = '42501';

test('who may read everything cannot stop writes', async () => {
  await using database = await createTestDatabase();
  const role = `analyst_${randomBytes(4).toString('hex')}`;
  await database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
  await database.query(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role}`);
  await database.query(`GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO ${role}`);
  const url = new URL(database.url);
  url.username = role;
  url.password = 'secret';
  const analyst = new pg.Client({ connectionString: url.href });
  await analyst.connect();
  const attempts = [
    "SELECT pg_advisory_lock(hashtext('pg-apiserver'), hashtext('commit_revisions'))",
    "SELECT pg_advisory_lock(hashtext('pg-apiserver'), hashtext('compaction'))",
    'BEGIN; LOCK TABLE commit_order IN SHARE MODE',
    'BEGIN; LOCK TABLE commit_order IN ROW SHARE MODE',
    'BEGIN; LOCK TABLE commit_order IN ROW EXCLUSIVE MODE',
    'BEGIN; LOCK TABLE revisions IN SHARE MODE',
    'BEGIN; SELECT * FROM compaction FOR UPDATE',
    'BEGIN; SELECT await_commits()',
    "BEGIN; SELECT keep_epoch(9223372036854775807, '00000000-0000-0000-0000-000000000000')",
    "BEGIN; SELECT find_writes('{}', 0)",
    "BEGIN; SELECT repair_allocations('', 'services', '[]')",
    'BEGIN; SELECT correct_clock(now(), 1)',
    'BEGIN; LOCK TABLE commit_order IN ACCESS SHARE MODE',
  ];
  const log = openLog(database.url);
  for (const [at, attempt] of attempts.entries()) {
    const outcome = await analyst.query(attempt).then(
      () => 'allowed',
      (error: unknown) => (error instanceof pg.DatabaseError ? error.code : String(error)),
    );
    const mayDo = /advisory|ACCESS SHARE/.test(attempt);
    expect(outcome, attempt).toBe(mayDo ? 'allowed' : INSUFFICIENT_PRIVILEGE);
    await log.committer.commit(write('create', `w${at}`));
    if (attempt.startsWith('BEGIN')) await analyst.query('ROLLBACK');
  }
  await analyst.end();
  await log.close();
  await database.query(`DROP OWNED BY ${role}`);
  await database.query(`DROP ROLE ${role}`);
});

/** Stands between a server and PostgreSQL, and can let both wait for each other, as a network does that has gone. */
async function startBlackHole(url: string) {
  let left = Number.POSITIVE_INFINITY;
  const proxy = await startDatabaseProxy(url, (near, reach) => {
    const far = reach();
    near.on('data', (bytes) => {
      if (left > 0) far.write(bytes);
      left -= 1;
    });
    far.on('data', (bytes) => left > 0 && near.write(bytes));
  });
  return {
    ...proxy,
    /** So many more messages get through, the answer to the last of them not. */
    swallowAfter: (messages: number) => {
      left = messages;
    },
    hasSwallowed: () => left <= 0,
  };
}

test.each(['looks for its writes', 'repairs allocations', 'settles what is visible'])(
  'a server that vanishes while it %s does not stop the writes of others',
  async (doing) => {
    await using database = await createTestDatabase();
    const log = openLog(database.url);
    const revision = await log.committer.commit(write('create', 'a'));
    for (let messages = 1; messages <= 4; messages += 1) {
      using hole = await startBlackHole(database.url);
      const connection = await connectWritable({ urls: [hole.url], poolSize: 1 }, 'vanishing');
      const lost = openLog(hole.url);
      await lost.reader.currentRevision();
      hole.swallowAfter(messages);
      const deeds: Record<string, () => Promise<unknown>> = {
        'looks for its writes': () =>
          findWrites(connection, ['00000000-0000-0000-0000-000000000000'], revision),
        'repairs allocations': () => lost.allocations.repair({ group: '', resource: 'services' }, []),
        'settles what is visible': () => lost.reader.awaitCommits(),
      };
      let isOver = false;
      const over = (): void => {
        isOver = true;
      };
      deeds[doing]?.().then(over, over);
      await vi.waitFor(() => expect(isOver || hole.hasSwallowed()).toBe(true), PATIENCE);
      await log.committer.commit(write('create', `after-${messages}`));
    }
    await log.close();
  },
  15_000,
);

test('a session that was left in a transaction, or waits for a lock, does not do so for ever', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  expect(await log.reader.currentRevision()).toBe(NO_REVISION);
  const connection = await connectWritable({ urls: [database.url], poolSize: 1 }, 'test');
  const names = [
    'statement_timeout',
    'lock_timeout',
    'idle_in_transaction_session_timeout',
    'tcp_keepalives_idle',
    'tcp_keepalives_interval',
    'tcp_keepalives_count',
    'tcp_user_timeout',
  ];
  for (const name of names) {
    const { rows } = await connection.client.query(`SELECT current_setting('${name}') AS value`);
    expect(rows[0]?.value, name).not.toBe('0');
  }
  await connection.close();
  await log.close();
});

test('a write waits for the ordering lock as long as it waits for the database', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  await log.committer.commit(write('create', 'a'));
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE commit_order IN SHARE MODE');
  const waiting = log.committer.commit(write('create', 'b'));
  const attempts = new Set<unknown>();
  const text = `SELECT xact_start::text AS began FROM pg_stat_activity a JOIN pg_locks l USING (pid)
    WHERE l.relation = 'commit_order'::regclass AND NOT l.granted AND datname = current_database()`;
  const attempted = async (): Promise<void> => {
    for (const { began } of await database.query(text)) attempts.add(began);
    expect(attempts.size).toBe(2);
  };
  await vi.waitFor(attempted, { timeout: 60_000, interval: 100 });
  await holder.end();
  expect(await waiting).toBeGreaterThan(NO_REVISION);
  await log.close();
});
