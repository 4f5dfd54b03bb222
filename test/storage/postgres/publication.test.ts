import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { TEXT_TYPES } from '../../../src/storage/postgres/connection/statements.ts';
import { keepPublication } from '../../../src/storage/postgres/feed/publication.ts';
import { NO_REVISION } from '../../../src/storage/revision.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { openLog, Recorder, write } from './kit.ts';
import { migrateDatabase } from './migrate-database.ts';

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

/** Lists of columns and conditions on rows are new in 15. */
const PARTS_OF_TABLES = 15;

async function versionOf(database: TestDatabase): Promise<number> {
  const [row] = await database.query<{ version: number }>(
    "SELECT current_setting('server_version_num')::int / 10000 AS version",
  );
  return row?.version ?? 0;
}

const describePublication = async (database: TestDatabase): Promise<unknown> => {
  const [row] = await database.query(
    `SELECT pubinsert, pubupdate, pubviaroot, puballtables, (SELECT jsonb_agg(to_jsonb(t) - 'pubname') FROM pg_publication_tables t) AS tables
     FROM pg_publication WHERE pubname = '${PUBLICATION}'`,
  );
  return row;
};

test('a publication that lacks something, or has too much, is made again as migrations make it', async () => {
  await using database = await createTestDatabase();
  const before = await describePublication(database);
  const client = new pg.Client({ connectionString: database.url, types: TEXT_TYPES });
  await client.connect();
  const lines: string[] = [];
  const keep = (): Promise<void> => keepPublication(client, undefined, (line) => lines.push(line));
  await keep();
  const breakages = [
    'DROP PUBLICATION $',
    "ALTER PUBLICATION $ SET (publish = 'delete')",
    'ALTER PUBLICATION $ SET TABLE revisions; ALTER PUBLICATION $ SET (publish_via_partition_root = false)',
    'ALTER PUBLICATION $ SET TABLE epochs',
    'ALTER PUBLICATION $ ADD TABLE epochs',
  ];
  const troubles = ['', 'has no inserts', 'names partitions, not their table', 'lacks the table revisions'];
  troubles.push('has more than the table revisions');
  if ((await versionOf(database)) >= PARTS_OF_TABLES) {
    breakages.push('ALTER PUBLICATION $ SET TABLE revisions (revision)');
    breakages.push('ALTER PUBLICATION $ SET TABLE revisions WHERE (revision > 1000000)');
    troubles.push('leaves columns out', 'leaves rows out');
  }
  for (const breakage of breakages) {
    await client.query(breakage.replaceAll('$', PUBLICATION));
    await keep();
    expect(await describePublication(database)).toEqual(before);
  }
  await client.end();
  expect(lines.map((line) => line.replace(': made it again', ''))).toEqual(
    troubles.map((trouble) =>
      trouble === '' ? `there is no publication ${PUBLICATION}` : `the publication ${PUBLICATION} ${trouble}`,
    ),
  );
});

test('a tail that finds no publication makes it again, and streams', async () => {
  await using database = await createTestDatabase();
  await database.query(`DROP PUBLICATION ${PUBLICATION}`);
  await using server = follow(database.url);
  await server.streams();
  expect(server.lines).toEqual([`there is no publication ${PUBLICATION}: made it again`]);
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

test('what a stream that has lost its publication does not bring is read from the table within a second', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  await using server = follow(database.url);
  await server.streams();
  await database.query(`DROP PUBLICATION ${PUBLICATION}`);
  const other = openLog(database.url);
  const revision = await other.committer.commit(write('create', 'a'));
  await server.recorder.reached(revision);
  expect(await database.query('SELECT FROM pg_publication')).toEqual([]);
  expect(server.log.feed.state.behindMs).toBe(0);
  await other.close();
});

test('a dump that was restored without publications migrates, and has them again', async () => {
  await using database = await createTestDatabase();
  const before = await describePublication(database);
  await database.query(`DROP PUBLICATION ${PUBLICATION}`);
  await migrateDatabase({ urls: [database.url], poolSize: 1 });
  expect(await describePublication(database)).toEqual(before);
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
