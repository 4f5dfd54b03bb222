import pg from 'pg';
import { expect, test, vi } from 'vitest';
import type { PostgresLog } from '../../../src/storage/postgres/postgres.ts';
import { NO_REVISION, type Revision, toRevision } from '../../../src/storage/revision.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { createTestDatabase } from '../../postgres.ts';
import { beginPartition, fillObjects, keepHistory, openLog, openUsualLog, write } from './kit.ts';
import { connect } from './stalls.ts';

const CONFIG_MAPS = { group: '', resource: 'configmaps' };
const EVERYTHING = { resource: CONFIG_MAPS, scope: {}, limit: 1000 };
const never = new AbortController().signal;

test('compaction drops whole partitions behind the window, never a live object, never the newest row', async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '0');
  const log = openLog(database.url);
  const { committer, reader } = log;
  const a1 = await committer.commit(write('create', 'a'));
  const b1 = await committer.commit(write('create', 'b'));
  await beginPartition(database);
  await committer.commit(write('update', 'a', a1));
  const b2 = await committer.commit(write('delete', 'b', b1));
  await beginPartition(database);
  const c1 = await committer.commit(write('create', 'c'));
  const c2 = await committer.commit(write('delete', 'c', c1));
  const before = await database.query('SELECT * FROM current_objects');
  expect(await log.compactor.compact(never)).toBe(2);

  expect(await database.query('SELECT * FROM current_objects')).toEqual(before);
  const kept = await database.query<{ revision: string }>('SELECT revision FROM revisions ORDER BY revision');
  expect(kept.map(({ revision }) => toRevision(revision))).toEqual([c1, c2]);
  expect(await reader.currentRevision()).toBe(c2);
  expect(await reader.compactedRevision()).toBe(c1);
  expect(b2).toBeLessThan(c1);
  expect(await log.compactor.compact(never)).toBe(0);
  await log.close();
});

test('under a steady load each run drops what the one before it has left', async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '0');
  const log = openUsualLog(database.url);
  let last = await log.committer.commit(write('create', 'a'));
  const dropped: number[] = [];
  for (let run = 0; run < 4; run += 1) {
    await beginPartition(database);
    for (let n = 0; n < 3; n += 1) last = await log.committer.commit(write('update', 'a', last));
    dropped.push(await log.compactor.compact(never));
    // An interval passes.
    await database.query("UPDATE log_bounds SET left_at = left_at - interval '5 minutes'");
    await database.query("UPDATE left_partitions SET left_at = left_at - interval '5 minutes'");
  }
  expect(dropped).toEqual([0, 1, 1, 1]);
  expect(log.compactor.retention?.partitionsBehind).toBe(1);
  await log.close();
});

test('a partition that was left in the future by a wrong clock goes all the same', async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '0');
  const log = openUsualLog(database.url);
  const first = await log.committer.commit(write('create', 'a'));
  await beginPartition(database);
  await log.committer.commit(write('update', 'a', await log.committer.commit(write('update', 'a', first))));
  expect(await log.compactor.compact(never)).toBe(0);
  await database.query("UPDATE left_partitions SET left_at = now() + interval '10 days'");
  expect(await log.compactor.compact(never)).toBe(0);
  await database.query("UPDATE left_partitions SET left_at = left_at - interval '11 s'");
  expect(await log.compactor.compact(never)).toBe(1);
  await log.close();
});

test('with an interval of 0 nothing is ever compacted', async () => {
  const log = openLog('postgres://127.0.0.1:1/none', { compactionIntervalMs: 0 });
  await log.compactor.run(never);
  await log.close();
});

test('a query that reads the log postpones the drop, and holds up no write', { tags: 'long' }, async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '0');
  const troubles: string[] = [];
  const log = openLog(database.url, { onTrouble: (message) => troubles.push(message) });
  const a1 = await log.committer.commit(write('create', 'a'));
  await beginPartition(database);
  const a2 = await log.committer.commit(write('update', 'a', a1));
  const a3 = await log.committer.commit(write('update', 'a', a2));
  const analyst = new pg.Client({ connectionString: database.url, application_name: 'forgotten' });
  await analyst.connect();
  await analyst.query('BEGIN; SELECT FROM revisions');
  // It says so at once: what waits for a lock on the log has commits wait behind it.
  for (let time = 0; time < 3; time += 1)
    await expect(log.compactor.compact(never)).rejects.toMatchObject({
      ...{ code: '55P03', message: expect.stringContaining('is read by the backends') },
    });
  expect(troubles).toEqual([
    expect.stringMatching(
      /^history behind the window cannot be dropped, because process \d+ \(application forgotten, user \w+, idle in transaction, its transaction began \d+ s ago\) reads it: end that transaction$/,
    ),
  ]);
  expect(log.compactor.retention).toMatchObject({ partitionsBehind: 1 });
  expect(await log.reader.compactedRevision()).toBe(a2);
  await log.committer.commit(write('update', 'a', a3));
  await analyst.end();
  expect(await log.compactor.compact(never)).toBe(1);
  await log.close();
});

test('what each kind of upkeep costs the database is counted: pages, rows, WAL and time', async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '0');
  const log = openLog(database.url);
  const revisions: Revision[] = [];
  for (let n = 0; n < 40; n += 1) revisions.push(await log.committer.commit(write('create', `n${n}`)));
  await beginPartition(database);
  for (const [n, revision] of revisions.slice(0, 30).entries())
    await log.committer.commit(write('update', `n${n}`, revision));
  const unlike = { rows: 0, pagesHit: 0, walBytes: 0, ms: 0 };
  expect([...log.compactor.costs.values()]).toEqual(
    Array(7).fill({ ...unlike, pagesRead: 0, pagesDirtied: 0 }),
  );
  // A page counts as dirtied where it was clean.
  await database.query('CHECKPOINT');
  expect(await log.compactor.compact(never)).toBe(1);
  const { fill, leave, drop, thin } = Object.fromEntries(log.compactor.costs);
  // All but the newest have their bytes, also the ten that were not written again, before their partition goes.
  expect(fill?.rows).toBe(39);
  // The state that only the newest revision has replaced: all else lies behind the window.
  expect(leave?.rows).toBe(1);
  expect(drop?.rows).toBe(0);
  for (const cost of [fill, leave, drop]) {
    expect(cost?.pagesHit).toBeGreaterThan(10);
    expect(cost?.walBytes).toBeGreaterThan(100);
    expect(cost?.ms).toBeGreaterThan(0);
  }
  expect(fill?.pagesDirtied).toBeGreaterThan(0);
  expect(thin).toMatchObject(unlike);
  await log.close();
});

test('a state that only the objects have is kept when it is overwritten, for as long as the window needs it', async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '0');
  const log = openLog(database.url);
  const { committer } = log;
  const old = await committer.commit(write('create', 'old', undefined, 'one'));
  const gone = await committer.commit(write('create', 'gone', undefined, 'one'));
  await beginPartition(database);
  await committer.commit(write('create', 'x'));
  const last = await committer.commit(write('create', 'y'));
  expect(await log.compactor.compact(never)).toBe(1);
  const updated = await committer.commit(write('update', 'old', old, 'two'));
  const removed = await committer.commit(write('delete', 'gone', gone, 'two'));
  const dataAt = async (name: string, revision: Revision): Promise<unknown> => {
    const text = `SELECT object_at('', 'configmaps', 'default', $1, $2::bigint)->'data'->>'data' AS data`;
    return (await database.query<{ data: string }>(text, [name, revision.toString()]))[0]?.data;
  };
  const namesAt = async (revision: Revision): Promise<string[]> =>
    (await log.reader.listAt({ ...EVERYTHING, revision })).objects.map(({ key }) => key.name);
  expect(await dataAt('old', last)).toBe('one');
  expect(await dataAt('old', updated)).toBe('two');
  expect(await dataAt('gone', updated)).toBe('one');
  expect(await dataAt('gone', removed)).toBeNull();
  expect(await namesAt(updated)).toEqual(['gone', 'old', 'x', 'y']);
  expect(await namesAt(removed)).toEqual(['old', 'x', 'y']);
  const changes = await log.reader.changesBetween({ ...EVERYTHING, after: last, upTo: removed });
  expect(changes.map(({ previousJson }) => JSON.parse(String(previousJson)).data.data)).toEqual([
    'one',
    'one',
  ]);

  const kept = 'SELECT name FROM superseded ORDER BY name';
  expect(await database.query(kept)).toEqual([{ name: 'gone' }, { name: 'old' }]);
  await committer.commit(write('create', 'z'));
  await log.compactor.compact(never);
  expect(await database.query(kept)).toEqual([]);
  expect(await namesAt(removed)).toEqual(['old', 'x', 'y']);
  await log.close();
});

test('what asks for the compacted past is refused, what asks for the rest is answered', async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '0');
  const log = openLog(database.url);
  const { committer, reader } = log;
  const a1 = await committer.commit(write('create', 'a'));
  const a2 = await committer.commit(write('update', 'a', a1));
  const a3 = await committer.commit(write('update', 'a', a2));
  await log.compactor.compact(never);
  const compacted = { failure: { kind: 'compacted', compacted: a2 } };
  await expect(reader.listAt({ ...EVERYTHING, revision: a1 })).rejects.toMatchObject(compacted);
  await expect(reader.changesBetween({ ...EVERYTHING, after: NO_REVISION, upTo: a3 })).rejects.toMatchObject(
    compacted,
  );
  const changes = await reader.changesBetween({ ...EVERYTHING, after: a2, upTo: a3 });
  expect(changes.map(({ revision }) => revision)).toEqual([a3]);
  expect((await reader.listAt({ ...EVERYTHING, revision: a3 })).objects.map((o) => o.revision)).toEqual([a3]);
  await log.close();
});

test('nothing younger than the window goes', async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '1 minute');
  const log = openLog(database.url);
  const a1 = await log.committer.commit(write('create', 'a'));
  await log.committer.commit(write('update', 'a', a1));
  await log.committer.commit(write('create', 'b'));
  await log.compactor.compact(never);
  expect(await log.reader.compactedRevision()).toBe(NO_REVISION);
  await log.close();
});

test('servers that compact at the same time do it once, and never lower the compacted revision', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '0');
  const logs = Array.from({ length: 3 }, () => openLog(database.url));
  const [first] = logs;
  if (first === undefined) throw new Error('no log');
  let last = await first.committer.commit(write('create', 'a'));
  let highest = NO_REVISION;
  let total = 0;
  for (let round = 0; round < 20; round += 1) {
    await beginPartition(database);
    for (let n = 0; n < 3; n += 1) last = await first.committer.commit(write('update', 'a', last));
    const dropped = await Promise.all(logs.map(({ compactor }) => compactor.compact(never)));
    total += dropped.reduce((sum, count) => sum + count, 0);
    const compacted = await first.reader.compactedRevision();
    expect(compacted).toBeGreaterThanOrEqual(highest);
    highest = compacted;
  }
  await first.compactor.compact(never);
  const rows = await database.query<{ count: number }>('SELECT count(*)::int AS count FROM revisions');
  expect(rows[0]?.count).toBe(3);
  expect(total).toBe(20);
  await Promise.all(logs.map((log) => log.close()));
});

/** A run of writes by chance, with the state after each of them. */
async function writeByChance(
  { committer }: PostgresLog,
  count: number,
  before: (n: number) => Promise<unknown>,
): Promise<Map<Revision, string[]>> {
  const live = new Map<string, Revision>();
  const states = new Map<Revision, string[]>();
  let seed = 42;
  for (let n = 0; n < count; n += 1) {
    await before(n);
    seed = (seed * 1103515245 + 12345) % 2147483648;
    const name = `n${10 + (seed % 13)}`;
    const current = live.get(name);
    const verb = current === undefined ? 'create' : seed % 3 === 0 ? 'delete' : 'update';
    const revision = await committer.commit(write(verb, name, current, `${n}`));
    if (verb === 'delete') live.delete(name);
    else live.set(name, revision);
    states.set(revision, [...live].map(([key, at]) => `${key}@${at}`).sort());
  }
  return states;
}

test('every state inside the window can be rebuilt, by revision and by time, and none outside', {
  tags: 'long',
  timeout: 300_000,
}, async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '30 minutes');
  const log = openLog(database.url);
  // Partitions end in many places, also at the border of the window.
  const states = await writeByChance(log, 120, async (n) => n % 10 === 1 && beginPartition(database));
  const revisions = [...states.keys()];
  const border = revisions[70] ?? NO_REVISION;
  // One second between writes makes times distinct; the first seventy-one are an hour older.
  await database.query(
    `UPDATE revisions r SET committed_at = committed_at + n.place * interval '1 second'
       - CASE WHEN r.revision <= $1 THEN interval '1 hour' ELSE interval '20 minutes' END
     FROM (SELECT revision, row_number() OVER (ORDER BY revision) AS place FROM revisions) n
     WHERE n.revision = r.revision`,
    [border.toString()],
  );
  const times = await database.query<{ revision: string; at: string }>(
    'SELECT revision, committed_at::text AS at FROM revisions',
  );
  const timeOf = new Map(times.map(({ revision, at }) => [toRevision(revision), at]));
  expect(await log.compactor.compact(never)).toBe(7);
  expect(await log.reader.compactedRevision()).toBe(border);

  const clusterAt = (position: string, value: string | undefined) => async (): Promise<string[]> => {
    const text = `SELECT name || '@' || revision AS object FROM cluster_at(${position}) ORDER BY name`;
    return (await database.query<{ object: string }>(text, [value])).map(({ object }) => object);
  };
  const ofNamespace = ", of_namespace => 'default'";
  for (const revision of revisions) {
    const byRevision = clusterAt('$1::bigint', `${revision}`);
    const byTime = clusterAt('$1::timestamptz', timeOf.get(revision));
    const namespaceByRevision = clusterAt(`$1::bigint${ofNamespace}`, `${revision}`);
    const namespaceByTime = clusterAt(`$1::timestamptz${ofNamespace}`, timeOf.get(revision));
    const all = [byRevision, byTime, namespaceByRevision, namespaceByTime];
    if (revision < border) {
      await Promise.all(
        all.map((one) => expect(one()).rejects.toThrow('older than the history that is kept')),
      );
      continue;
    }
    const expected = states.get(revision);
    expect(await Promise.all(all.map((one) => one()))).toEqual(all.map(() => expected));
    const { objects } = await log.reader.listAt({ ...EVERYTHING, revision });
    expect(objects.map((object) => `${object.key.name}@${object.revision}`)).toEqual(expected);
  }
  await log.close();
});

test('hundreds of states that the window needs are kept in batches, also those that are replaced between two of them', async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '30 minutes');
  const log = openLog(database.url);
  const names = Array.from({ length: 600 }, (_, n) => `o${n}`);
  const create = (name: string): Promise<Revision> => log.committer.commit(write('create', name));
  const created = new Map(await Promise.all(names.map(async (name) => [name, await create(name)] as const)));
  await beginPartition(database);
  await create('edge');
  await database.query("UPDATE revisions SET committed_at = committed_at - interval '1 hour'");
  const replace = (some: readonly string[]): Promise<unknown> =>
    Promise.all(some.map((name) => log.committer.commit(write('update', name, created.get(name)))));
  // The first ones by name come late: those before the state that was copied last.
  const late = names.slice(0, 100);
  await replace(names.slice(100));
  await database.query('SELECT compact_history()');
  await fillObjects(database);
  const leave = async (): Promise<unknown> =>
    (await database.query<{ answer: string }>('SELECT leave_partition() AS answer'))[0]?.answer;
  const kept = async (): Promise<string[]> =>
    (await database.query<{ name: string }>('SELECT name FROM superseded ORDER BY name')).map(
      ({ name }) => name,
    );
  expect([await leave(), await kept()]).toEqual(['more', []]);
  // From now on commits keep what they replace, so that nothing is left to copy while they wait.
  await replace(late.slice(0, 50));
  expect(await kept()).toEqual(late.slice(0, 50).sort());
  expect(await leave()).toBe('more');
  await replace(late.slice(50));
  expect([await leave(), await leave()]).toEqual(['more', 'left']);
  expect(await kept()).toEqual([...names].sort());
  await log.close();
});

test.each([
  { step: 'has commits keep what they replace', before: 0, answer: 'more' },
  { step: 'ends it', before: 1, answer: 'left' },
])(
  'what leaves a partition and $step holds nothing that a commit wants, which may have to make one meanwhile',
  async ({ before, answer }) => {
    await using database = await createTestDatabase();
    await keepHistory(database, '0');
    const log = openLog(database.url);
    await log.committer.commit(write('create', 'one'));
    await beginPartition(database);
    await log.committer.commit(write('create', 'edge'));
    await log.committer.commit(write('create', 'two'));
    await database.query('SELECT compact_history()');
    await fillObjects(database);
    for (let calls = 0; calls < before; calls += 1) await database.query('SELECT leave_partition()');
    await using commit = await connect(database.url);
    await commit.query('BEGIN; LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE');
    const left = database.query('SELECT leave_partition() AS answer');
    const waiting = "SELECT FROM pg_locks WHERE NOT granted AND relation = 'commit_order'::regclass";
    await vi.waitFor(async () => expect(await commit.query(waiting)).toHaveLength(1), PATIENCE);
    await commit.query("SET LOCAL lock_timeout = '1s'");
    await commit.query('SELECT make_partition(high) FROM log_bounds');
    await commit.query('COMMIT');
    expect(await left).toEqual([{ answer }]);
    await log.close();
  },
);

test('one server at a time leaves a partition: steps of a second one would fill the pauses of the first', async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '0');
  const log = openLog(database.url);
  await log.committer.commit(write('create', 'one'));
  await beginPartition(database);
  await log.committer.commit(write('create', 'edge'));
  await log.committer.commit(write('create', 'two'));
  await database.query('SELECT compact_history()');
  await fillObjects(database);
  const leave = async (session: Pick<typeof database, 'query'>) =>
    (await session.query<{ answer: string }>('SELECT leave_partition() AS answer'))[0]?.answer;
  await using other = await connect(database.url);
  await other.query('BEGIN');
  expect([await leave(other), await leave(database)]).toEqual(['more', 'nothing']);
  await other.query('COMMIT');
  expect([await leave(database), await leave(database)]).toEqual(['left', 'nothing']);
  await log.close();
});

test('a list at a revision comes in pages that together are the whole, each saying how many follow', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const names = Array.from({ length: 25 }, (_, n) => `n${String(n).padStart(2, '0')}`);
  await Promise.all(names.map((name) => log.committer.commit(write('create', name))));
  const revision = await log.reader.currentRevision();
  await log.committer.commit(write('create', 'n00a'));
  const seen: string[] = [];
  let after: string | undefined;
  for (;;) {
    const query = { ...EVERYTHING, limit: 10, revision };
    const page = await log.reader.listAt(after === undefined ? query : { ...query, after });
    seen.push(...page.objects.map(({ key }) => key.name));
    expect(page.remaining).toBe(names.length - seen.length);
    if (page.remaining === 0) break;
    after = `default\0${seen.at(-1)}`;
  }
  expect(seen).toEqual(names);
  await log.close();
});
