import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { migrateDatabase } from '../../../src/storage/postgres/setup.ts';
import { NO_REVISION } from '../../../src/storage/revision.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { openLog, Recorder, write } from './kit.ts';

const PUBLICATION = 'pg_apiserver_revisions';

/** A server that follows the log, with what it says. */
function follow(url: string) {
  const lines: string[] = [];
  const log = openLog(url, { onTrouble: (line) => lines.push(line) });
  const recorder = new Recorder(() => log.reader.currentRevision());
  const stop = new AbortController();
  const running = log.feed.run(NO_REVISION, recorder, stop.signal);
  return {
    ...{ log, recorder, lines },
    streams: () => vi.waitFor(() => expect(log.feed.state.mode).toBe('streaming'), PATIENCE),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
      await log.close();
    },
  };
}

const isAsMigrated = async (database: TestDatabase): Promise<unknown> => {
  const [row] = await database.query(
    `SELECT pubinsert, pubupdate, pubviaroot, puballtables, (SELECT jsonb_agg(to_jsonb(t) - 'pubname') FROM pg_publication_tables t) AS tables
     FROM pg_publication WHERE pubname = '${PUBLICATION}'`,
  );
  return row;
};

test.each([
  ['there is no publication', `DROP PUBLICATION ${PUBLICATION}`],
  ['has no inserts', `ALTER PUBLICATION ${PUBLICATION} SET (publish = 'delete')`],
  ['names partitions', `ALTER PUBLICATION ${PUBLICATION} SET (publish_via_partition_root = false)`],
  ['lacks the table revisions', `ALTER PUBLICATION ${PUBLICATION} SET TABLE epochs`],
  ['has more than the table', `ALTER PUBLICATION ${PUBLICATION} ADD TABLE epochs`],
  ['leaves columns out', `ALTER PUBLICATION ${PUBLICATION} SET TABLE revisions (revision)`],
  ['leaves rows out', `ALTER PUBLICATION ${PUBLICATION} SET TABLE revisions WHERE (revision > 1000000)`],
])('a tail that finds the publication wrong, %s, makes it again and streams', async (trouble, breakage) => {
  await using database = await createTestDatabase();
  const before = await isAsMigrated(database);
  await database.query(breakage);
  await using server = follow(database.url);
  await server.streams();
  expect(server.lines.join()).toMatch(new RegExp(`publication ${PUBLICATION}.*: made it again|${trouble}.*made it again`));
  expect(await isAsMigrated(database)).toEqual(before);
  const revision = await server.log.committer.commit(write('create', 'a'));
  await server.recorder.reached(revision);
});

test('where the role may not make it again, changes are polled, and the statement for one who may is named', async () => {
  await using database = await createTestDatabase();
  await using role = await serverRole(database, 'REPLICATION');
  await database.query(`DROP PUBLICATION ${PUBLICATION}`);
  await using server = follow(role.url);
  const revision = await server.log.committer.commit(write('create', 'a'));
  await server.recorder.reached(revision);
  await vi.waitFor(() => expect(server.log.feed.state.remedy).toBeDefined(), PATIENCE);
  const { mode, remedy = '' } = server.log.feed.state;
  expect(mode).toBe('polling');
  expect(server.lines).toEqual([expect.stringContaining(`run: ${remedy}`)]);
  await database.query(remedy);
  await server.streams();
  expect(server.log.feed.state.remedy).toBeUndefined();
});

test('what a stream without a publication does not bring is read from the table, and the stream is mended', async () => {
  await using database = await createTestDatabase();
  await using server = follow(database.url);
  await server.streams();
  await database.query(`DROP PUBLICATION ${PUBLICATION}`);
  await using other = follow(database.url);
  const revision = await other.log.committer.commit(write('create', 'a'));
  await server.recorder.reached(revision);
  await vi.waitFor(() => expect(server.log.feed.state.behindMs).toBe(0), PATIENCE);
});

test('a dump that was restored without publications migrates, and has them again', async () => {
  await using database = await createTestDatabase();
  const before = await isAsMigrated(database);
  await database.query(`DROP PUBLICATION ${PUBLICATION}`);
  await migrateDatabase({ urls: [database.url], poolSize: 1 });
  expect(await isAsMigrated(database)).toEqual(before);
});

/** One that may serve and no more. */
async function serverRole(database: TestDatabase, attributes = '') {
  const name = `server_${randomBytes(4).toString('hex')}`;
  await database.query(`CREATE ROLE ${name} LOGIN PASSWORD 'secret' ${attributes}`);
  await database.query('SELECT grant_server($1)', [name]);
  const url = new URL(database.url);
  url.username = name;
  url.password = 'secret';
  return {
    url: url.href,
    [Symbol.asyncDispose]: async () => {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      await client.query(`DROP OWNED BY ${name}; DROP ROLE ${name}`);
      await client.end();
    },
  };
}
