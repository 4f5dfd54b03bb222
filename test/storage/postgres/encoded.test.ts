import { expect, test } from 'vitest';
import type { PostgresLog } from '../../../src/storage/postgres/postgres.ts';
import { NO_REVISION, type Revision, toRevision } from '../../../src/storage/revision.ts';
import {
  type EncodedBytes,
  MAX_PAGE_BYTES,
  mayHaveMore,
  type Write,
} from '../../../src/storage/revision-log.ts';
import { TestRoles } from '../../kit/roles.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { beginPartition, fillObjects, keepHistory, openLog, Recorder, write } from './kit.ts';
import { connect } from './stalls.ts';

const CONFIG_MAPS = { group: '', resource: 'configmaps' };
const MEDIA_TYPE = 'application/x-test; key="one"';
/** No UTF-8, with a zero in it. */
const BYTES = Buffer.from([0xff, 0x00, 0x5c, 0x78, 0x27, 0x80]);
const ENCODED: EncodedBytes = { bytes: BYTES, mediaType: MEDIA_TYPE };

const encoded = (plain: Write, bytes: Buffer = BYTES): Write => ({
  ...plain,
  encoded: { ...ENCODED, bytes },
});

async function withLog(use: (log: PostgresLog, database: TestDatabase) => Promise<void>): Promise<void> {
  const database = await createTestDatabase();
  const log = openLog(database.url);
  try {
    await use(log, database);
  } finally {
    await log.close();
    await database.drop();
  }
}

/** What each way of reading says of the object `a`, and of what it was at its first revision. */
async function readInAllWays({ reader }: PostgresLog, first: Revision): Promise<Record<string, unknown>> {
  const loaded: unknown[] = [];
  await reader.loadCurrent(
    () => {},
    (batch) => loaded.push(...batch.filter(({ key }) => key.name === 'a').map((one) => one.encoded)),
  );
  const query = { resource: CONFIG_MAPS, scope: { name: 'a' }, limit: 10 };
  const [update] = await reader.changesBetween({
    ...query,
    after: first,
    upTo: await reader.currentRevision(),
  });
  return {
    loaded: loaded[0],
    gotten: (await reader.get({ ...CONFIG_MAPS, namespace: 'default', name: 'a' }))?.encoded,
    earlier: (await reader.listAt({ ...query, revision: first })).objects[0]?.encoded,
    update: update?.encoded,
    before: update?.previousEncoded,
    tail: (await reader.tailPage(first, 10)).changes.find(({ key }) => key.name === 'a')?.encoded,
  };
}

test('bytes in another form than JSON come back in all ways, from the log, the objects and what is kept beside both', async () => {
  await withLog(async (log, database) => {
    const { committer, feed } = log;
    await keepHistory(database, '1 hour');
    const stop = new AbortController();
    const recorder = new Recorder();
    const running = feed.run(NO_REVISION, recorder, stop.signal);
    const first = await committer.commit(encoded(write('create', 'a')));
    const mixed = [committer.commit(write('create', 'b')), committer.commit(encoded(write('create', 'c')))];
    const later = Buffer.from('later');
    const second = await committer.commit(encoded(write('update', 'a', first), later));
    await Promise.all(mixed);
    await recorder.reached(second);
    stop.abort();
    await running;
    const streamed = recorder.changes.map(({ key, json, encoded: bytes }) => [
      key.name,
      json.length > 0,
      bytes,
    ]);
    expect(streamed).toEqual(
      expect.arrayContaining([
        ['a', false, ENCODED],
        ['a', false, { ...ENCODED, bytes: later }],
        ['b', true, undefined],
        ['c', false, ENCODED],
      ]),
    );
    const current = { ...ENCODED, bytes: later };
    const all = {
      loaded: current,
      gotten: current,
      earlier: ENCODED,
      update: current,
      before: ENCODED,
      tail: current,
    };
    expect(await readInAllWays(log, first), 'from the log').toEqual(all);
    await fillObjects(database);
    expect(await readInAllWays(log, first), 'from the objects').toEqual(all);
  });
});

test('a state that is overwritten behind the log is kept in its form', async () => {
  await withLog(async ({ committer, reader }, database) => {
    const first = await committer.commit(encoded(write('create', 'a')));
    await beginPartition(database);
    await committer.commit(write('create', 'b'));
    await database.query(
      'UPDATE compaction SET revision = (SELECT high - 1 FROM log_partitions() ORDER BY high LIMIT 1)',
    );
    await fillObjects(database);
    await database.query('SELECT leave_partition()');
    const at = await reader.currentRevision();
    await committer.commit(encoded(write('update', 'a', first), Buffer.from('later')));
    const listed = await reader.listAt({
      resource: CONFIG_MAPS,
      scope: { name: 'a' },
      limit: 10,
      revision: at,
    });
    expect(listed.objects.map((one) => one.encoded)).toEqual([ENCODED]);
    expect(await database.query('SELECT media_type FROM superseded')).toEqual([{ media_type: MEDIA_TYPE }]);
  });
});

test('views and functions show in which form a value is stored, and fail nowhere', async () => {
  await withLog(async ({ committer }, database) => {
    const revision = await committer.commit(encoded(write('create', 'a')));
    const shown = { encoded: { mediaType: MEDIA_TYPE, sizeBytes: BYTES.length } };
    const ways = [
      'SELECT object FROM current_objects',
      'SELECT object FROM objects_jsonb',
      'SELECT object FROM history',
      'SELECT object FROM history_jsonb',
      'SELECT object FROM cluster_at(now())',
      `SELECT object FROM cluster_at(${revision}, 'default')`,
      `SELECT object_at('', 'configmaps', 'default', 'a', ${revision}) AS object`,
    ];
    await using roles = new TestRoles(database);
    await using reader = await connect(await roles.make('reader'));
    await database.query('SELECT grant_reader($1)', [roles.nameOf('reader')]);
    for (const filled of [false, true]) {
      if (filled) await fillObjects(database);
      for (const text of ways) {
        expect(await database.query(text), text).toEqual([{ object: shown }]);
        expect(await reader.query(text), `${text}, for a reader`).toEqual([{ object: shown }]);
      }
    }
  });
});

test('what has expired ends in the form that it had', async () => {
  await withLog(async ({ committer, expirer }, database) => {
    await committer.commit({ ...encoded(write('create', 'a')), expiresAt: new Date(0) });
    expect(await expirer.expire()).toBe(1);
    const [row] = await database.query("SELECT encoded, media_type FROM revisions WHERE verb = 'delete'");
    expect(row).toEqual({ encoded: BYTES, media_type: MEDIA_TYPE });
  });
});

test('a page of changes that ended for its bytes in the database is known to have ended so', () => {
  const change = {
    ...write('create', 'a'),
    ...{ revision: toRevision(1), previous: undefined, committedAt: new Date(), previousJson: undefined },
  };
  const large = { ...ENCODED, bytes: Buffer.alloc(MAX_PAGE_BYTES) };
  expect(mayHaveMore([change], 10)).toBe(false);
  expect(mayHaveMore([{ ...change, encoded: large }], 10)).toBe(true);
  expect(mayHaveMore([{ ...change, storedBytes: MAX_PAGE_BYTES }], 10)).toBe(true);
});
