import { randomBytes } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { isLockTimeout } from '../../../src/storage/postgres/connection/statements.ts';
import type { PostgresLog } from '../../../src/storage/postgres/postgres.ts';
import { fillObjects as fillAsServer } from '../../../src/storage/postgres/upkeep/filler.ts';
import type { Revision } from '../../../src/storage/revision.ts';
import type { StoredObject } from '../../../src/storage/revision-log.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { beginPartition, fillObjects, keepHistory, openLog, write } from './kit.ts';
import { connect, type Session } from './stalls.ts';

const CONFIG_MAPS = { group: '', resource: 'configmaps' };
const EVERYTHING = { resource: CONFIG_MAPS, scope: {}, limit: 1000 };
const PATIENCE = { timeout: 60_000, interval: 10 };
const never = new AbortController().signal;

/** The names of the objects whose bytes are in the log alone. */
async function unfilled(database: Pick<TestDatabase, 'query'>): Promise<string[]> {
  const text = 'SELECT name FROM objects WHERE object IS NULL AND encoded IS NULL ORDER BY name';
  return (await database.query<{ name: string }>(text)).map(({ name }) => name);
}

const dataOf = ({ json }: Pick<StoredObject, 'json'>): unknown => JSON.parse(String(json)).data.data;

/** Each object's data by its name, in each of the ways in which it can be read. */
async function readInAllWays(
  database: TestDatabase,
  { reader }: PostgresLog,
): Promise<Record<string, Record<string, unknown>>> {
  const revision = await reader.currentRevision();
  const loaded: StoredObject[] = [];
  await reader.loadCurrent(
    () => {},
    (batch) => loaded.push(...batch),
  );
  const gotten = await Promise.all(loaded.map(({ key }) => reader.get(key)));
  const listed = await reader.listAt({ ...EVERYTHING, revision });
  const stored = (objects: readonly (StoredObject | undefined)[]): Record<string, unknown> =>
    Object.fromEntries(objects.map((one) => [one?.key.name, one && dataOf(one)]));
  const queried = async (from: string, values: unknown[] = []): Promise<Record<string, unknown>> => {
    const rows = await database.query<{ name: string; data: string }>(
      `SELECT name, object->'data'->>'data' AS data FROM ${from} ORDER BY name`,
      values,
    );
    return Object.fromEntries(rows.map(({ name, data }) => [name, data]));
  };
  const objectAt = `(
    SELECT o.name, object_at('', 'configmaps', 'default', o.name, $1::bigint) AS object FROM objects o
  ) o`;
  return {
    load: stored(loaded),
    get: stored(gotten),
    listAt: stored(listed.objects),
    current_objects: await queried('current_objects'),
    objects_jsonb: await queried('objects_jsonb'),
    object_at: await queried(objectAt, [String(revision)]),
    cluster_at: await queried('cluster_at($1::bigint)', [String(revision)]),
    'cluster_at of a namespace': await queried("cluster_at($1::bigint, 'default')", [String(revision)]),
  };
}

test('every read of an object finds its bytes, where a commit left them to the log and where the object has them', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const filled = await log.committer.commit(write('create', 'filled', undefined, 'one'));
  const rewritten = await log.committer.commit(write('create', 'rewritten', undefined, 'one'));
  expect(await unfilled(database)).toEqual(['filled', 'rewritten']);
  await fillObjects(database);
  expect(await unfilled(database)).toEqual([]);
  await beginPartition(database);
  await log.committer.commit(write('update', 'rewritten', rewritten, 'two'));
  await log.committer.commit(write('create', 'fresh', undefined, 'three'));
  expect(await unfilled(database)).toEqual(['fresh', 'rewritten']);

  const expected = { filled: 'one', fresh: 'three', rewritten: 'two' };
  for (const [way, found] of Object.entries(await readInAllWays(database, log)))
    expect(found, way).toEqual(expected);
  await fillObjects(database);
  for (const [way, found] of Object.entries(await readInAllWays(database, log)))
    expect(found, way).toEqual(expected);
  const { objects } = await log.reader.listAt({ ...EVERYTHING, revision: filled });
  expect(objects.map(({ key }) => key.name)).toEqual(['filled']);
  await log.compactor.compact(new AbortController().signal);
  expect(log.compactor.retention).toMatchObject({ rowsLookedAt: 4, objectsFilled: 4 });
  await log.close();
});

test('pages of a list at a revision are whole, however objects with and without their bytes follow one another', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const names = Array.from({ length: 20 }, (_, n) => `n${String(n).padStart(2, '0')}`);
  const some = (remainder: number) => names.filter((_, n) => n % 3 === remainder);
  const created = new Map<string, Revision>();
  for (const name of names)
    created.set(name, await log.committer.commit(write('create', name, undefined, 'one')));
  await fillObjects(database);
  await beginPartition(database);
  for (const name of some(1)) await log.committer.commit(write('update', name, created.get(name), 'two'));
  const revision = await log.reader.currentRevision();
  for (const name of some(2)) await log.committer.commit(write('update', name, created.get(name), 'three'));
  expect(await unfilled(database)).toEqual([...some(1), ...some(2)].sort());
  const seen: [string, unknown][] = [];
  for (let after: string | undefined; seen.length < names.length; after = `default\0${seen.at(-1)?.[0]}`) {
    const query = { ...EVERYTHING, limit: 6, revision, ...(after === undefined ? {} : { after }) };
    const page = await log.reader.listAt(query);
    seen.push(...page.objects.map((one) => [one.key.name, dataOf(one)] as [string, unknown]));
    expect(page.remaining).toBe(names.length - seen.length);
  }
  expect(seen).toEqual(names.map((name, n) => [name, n % 3 === 1 ? 'two' : 'one']));
  await log.close();
});

test('an object that is not JSON keeps its bytes and their type, in the views too', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  await log.committer.commit(write('create', 'a'));
  await database.query(
    "UPDATE revisions SET object = NULL, encoded = '\\x0102', media_type = 'application/octet-stream'",
  );
  const shown = () => database.query('SELECT object, encoded, media_type FROM current_objects');
  const kept = { object: null, encoded: Buffer.from([1, 2]), media_type: 'application/octet-stream' };
  const object = { encoded: { mediaType: kept.media_type, sizeBytes: 2 } };
  expect(await unfilled(database)).toEqual(['a']);
  expect(await shown()).toEqual([{ ...kept, object }]);
  await fillObjects(database);
  expect(await unfilled(database)).toEqual([]);
  expect(await shown()).toEqual([{ ...kept, object }]);
  expect(await database.query('SELECT object, encoded, media_type FROM objects')).toEqual([kept]);
  await log.close();
});

test('an object that expires ends by a delete with its last state, whose bytes were in the log alone', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const due = { ...write('create', 'due', undefined, 'last'), expiresAt: new Date(Date.now() - 1000) };
  await log.committer.commit(due);
  expect(await unfilled(database)).toEqual(['due']);
  expect(await log.expirer.expire()).toBe(1);
  const [row] = await database.query<{ text: string }>(
    "SELECT object::text AS text FROM revisions WHERE verb = 'delete'",
  );
  expect(row?.text).toBe(String(due.json));
  await log.close();
});

test('what is written again before its turn is never copied', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  let hot = await log.committer.commit(write('create', 'hot'));
  const cold = Array.from({ length: 20 }, (_, n) => `cold-${n}`);
  for (const name of cold) {
    await log.committer.commit(write('create', name));
    hot = await log.committer.commit(write('update', 'hot', hot));
  }
  await fillObjects(database, { behind: 10, olderThan: '1 hour' });
  expect(await unfilled(database)).toEqual([...cold.slice(-5), 'hot'].sort());
  expect(await fillObjects(database, { behind: 10, olderThan: '1 hour' })).toBe(0);
  // As old as that is as good as that far behind.
  await database.query("UPDATE revisions SET committed_at = committed_at - interval '2 hours'");
  await database.query("UPDATE filling SET filled_at = filled_at - interval '2 hours'");
  await fillObjects(database, { behind: 10, olderThan: '1 hour' });
  expect(await unfilled(database)).toEqual([]);
  await log.close();
});

test('an object gets its bytes after as many writes as make it unlikely that it is written again: at least 100,000, and thrice the objects', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  // Revisions that were left out count like those of writes.
  const passWrites = (count: number): Promise<unknown> =>
    database.query(
      "SELECT setval('revisions_revision_seq', last_value + $1::bigint) FROM revisions_revision_seq",
      [count],
    );
  const fill = (): Promise<void> =>
    fillAsServer(async (text) => {
      const [row] = await database.query<{ step: string }>(`SELECT ${text} AS step`);
      return row?.step ?? '';
    }, never);
  await log.committer.commit(write('create', 'a'));
  await passWrites(250_000);
  await log.committer.commit(write('create', 'b'));
  await fill();
  expect(await unfilled(database)).toEqual(['b']);
  await database.query(`
    INSERT INTO objects (api_group, resource, namespace, name, revision, uid, object, modified_at)
    SELECT '', 'secrets', 'default', n::text, 1, n::text, '{}', now() FROM generate_series(1, 100000) AS n`);
  await database.query('ANALYZE objects');
  await passWrites(250_000);
  await log.committer.commit(write('create', 'c'));
  await fill();
  expect(await unfilled(database)).toEqual(['b', 'c']);
  await passWrites(280_000);
  await log.committer.commit(write('create', 'd'));
  await fill();
  expect(await unfilled(database)).toEqual(['c', 'd']);
  await log.close();
});

test('filling costs what was written since, however many objects there are, and waits until it is due', async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '0');
  const log = openLog(database.url);
  const create = (count: number, prefix: string): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, (_, n) => log.committer.commit(write('create', `${prefix}-${n}`))),
    );
  const done = async (): Promise<unknown> =>
    (await database.query('SELECT passed::int, filled::int FROM filling'))[0];
  const asUsual = { behind: 0, olderThan: '1 hour' };
  await create(200, 'a');
  expect(await fillObjects(database, asUsual)).toBeGreaterThan(0);
  expect(await done()).toEqual({ passed: 200, filled: 200 });
  let hot = await log.committer.commit(write('create', 'hot'));
  for (let n = 0; n < 9; n += 1) hot = await log.committer.commit(write('update', 'hot', hot));
  await log.committer.commit(write('delete', 'hot', hot));
  await create(1, 'b');
  await fillObjects(database, asUsual);
  expect(await done()).toEqual({ passed: 212, filled: 201 });
  expect(await unfilled(database)).toEqual([]);
  await create(1, 'd');
  await beginPartition(database);
  await create(2, 'e');
  // The partition that was begun has left out revisions.
  const farBehind = { ...asUsual, behind: 50_000 };
  await database.query("UPDATE filling SET filled_to = (SELECT revision FROM revisions WHERE name = 'b-0')");
  expect(await fillObjects(database, farBehind)).toBe(0);
  await database.query('SELECT compact_history()');
  expect(await fillObjects(database, farBehind)).toBeGreaterThan(0);
  expect(await unfilled(database)).not.toContain('d-0');
  await log.close();
});

test('the heap of the objects has at most a page for each, and next to nothing for those beyond a page', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const heapPagesOf = async (count: number, bytes: number): Promise<number> => {
    const pages = "SELECT pg_relation_size('objects')::int / 8192 AS pages";
    const [before] = await database.query<{ pages: number }>(pages);
    // Other characters than one: some builds of PostgreSQL compress.
    const data = (): string => randomBytes(bytes / 2).toString('hex');
    const names = Array.from({ length: count }, (_, n) => `of-${bytes}-${n}`);
    await Promise.all(names.map((name) => log.committer.commit(write('create', name, undefined, data()))));
    await fillObjects(database);
    const [after] = await database.query<{ pages: number }>(pages);
    return (after?.pages ?? 0) - (before?.pages ?? 0);
  };
  expect(await heapPagesOf(100, 50_000)).toBeLessThan(20);
  expect(await heapPagesOf(100, 5000)).toBeLessThan(110);
  expect(await heapPagesOf(100, 500)).toBeLessThan(30);
  await log.close();
});

test('a partition is not left before the objects that were last written in it have their bytes, which outlive it', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '0');
  const log = openLog(database.url);
  const old = await log.committer.commit(write('create', 'old', undefined, 'one'));
  await log.committer.commit(write('create', 'large', undefined, 'x'.repeat(400_000)));
  await beginPartition(database);
  await log.committer.commit(write('create', 'edge'));
  await log.committer.commit(write('create', 'next'));
  await database.query('SELECT compact_history()');
  const leave = () => database.query('SELECT leave_partition() AS outcome');
  expect(await leave()).toEqual([{ outcome: 'nothing' }]);
  expect(await log.compactor.compact(never)).toBe(1);
  expect(await unfilled(database)).toEqual(['next']);
  expect(await database.query('SELECT FROM revisions WHERE revision = $1', [String(old)])).toEqual([]);
  for (const [way, found] of Object.entries(await readInAllWays(database, log)))
    expect(found, way).toEqual({ old: 'one', large: 'x'.repeat(400_000), edge: 'x', next: 'x' });
  // What replaces it keeps the state for the window.
  await keepHistory(database, '1 hour');
  const last = await log.reader.currentRevision();
  await log.committer.commit(write('update', 'old', old, 'two'));
  const [was] = await database.query(
    "SELECT object_at('', 'configmaps', 'default', 'old', $1::bigint)->'data'->>'data' AS data",
    [String(last)],
  );
  expect(was).toEqual({ data: 'one' });
  await log.close();
});

/** There always is one; what was cut off may be at it for another moment. */
async function nextStep(database: TestDatabase): Promise<string> {
  for (;;) {
    const [row] = await database.query<{ step: string }>("SELECT fill_objects(0, '0 s') AS step");
    if (row !== undefined && row.step !== 'nothing') return row.step;
  }
}

test('filling that was cut off at any point goes on there, and goes over nothing twice', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const names = Array.from({ length: 350 }, (_, n) => `n${String(n).padStart(3, '0')}`);
  await Promise.all(names.map((name) => log.committer.commit(write('create', name))));
  const sizes: number[] = [];
  const positions: number[] = [];
  for (let outcome = 'more'; outcome !== 'done'; ) {
    await using cut = await connect(database.url);
    await cut.query('BEGIN');
    await cut.query("SELECT fill_objects(0, '0 s')");
    await cut.query('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => {});
    outcome = await nextStep(database);
    sizes.push((await unfilled(database)).length);
    const [walk] = await database.query<{ passed_to: string }>('SELECT passed_to FROM filling');
    positions.push(Number(walk?.passed_to ?? 0));
  }
  expect(sizes.at(-1)).toBe(0);
  // Each step fills what the one before it has found, and is a small one.
  const filledBy = sizes.map((size, at) => (sizes[at - 1] ?? names.length) - size);
  expect(Math.max(...filledBy)).toBeLessThanOrEqual(50);
  // What was cut off is done by the next, and no step goes back.
  expect(positions).toEqual([...positions].sort((a, b) => a - b));
  expect(positions).toHaveLength(16);
  await log.close();
});

test('one server fills at a time; another finds nothing to do, and does not wait', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  await log.committer.commit(write('create', 'a'));
  await using first = await connect(database.url);
  await first.query('BEGIN');
  expect(await first.query("SELECT fill_objects(0, '0 s') AS step")).toEqual([{ step: 'more' }]);
  expect(await database.query("SELECT fill_objects(0, '0 s') AS step")).toEqual([{ step: 'nothing' }]);
  await first.query('COMMIT');
  expect(await database.query("SELECT fill_objects(0, '0 s') AS step")).toEqual([{ step: 'more' }]);
  await log.close();
});

/** How many wait for the ordering lock. */
async function waiting(session: Session, count: number): Promise<void> {
  const text = "SELECT FROM pg_locks WHERE NOT granted AND relation = 'commit_order'::regclass";
  await vi.waitFor(async () => expect(await session.query(text)).toHaveLength(count), PATIENCE);
}

test.each(['the commit', 'the filler'])(
  'a commit and the filler that meet at an object take turns: %s comes first, and no write is lost',
  async (first) => {
    await using database = await createTestDatabase();
    const log = openLog(database.url);
    const created = await log.committer.commit(write('create', 'a', undefined, 'one'));
    const other = await log.committer.commit(write('create', 'b', undefined, 'one'));
    const step = () => database.query<{ step: string }>("SELECT fill_objects(0, '0 s') AS step");
    // The walk begins, and finds both.
    await step();
    await step();
    expect(await database.query('SELECT due FROM filling')).toEqual([
      { due: [String(created), String(other)] },
    ]);
    await using blocker = await connect(database.url);
    await blocker.query('BEGIN; LOCK TABLE ONLY commit_order IN EXCLUSIVE MODE');
    const meeting: Promise<unknown>[] = [];
    const commit = () => log.committer.commit(write('update', 'a', created, 'two'));
    for (const begin of first === 'the commit' ? [commit, step] : [step, commit]) {
      meeting.push(begin());
      await waiting(blocker, meeting.length);
    }
    await blocker.query('COMMIT');
    await Promise.all(meeting);
    expect(await unfilled(database)).toEqual(['a']);
    for (const [way, found] of Object.entries(await readInAllWays(database, log)))
      expect(found, way).toEqual({ a: 'two', b: 'one' });
    await log.close();
  },
);

/** A partition that is read just then goes another time. */
async function compactPatiently({ compactor }: PostgresLog): Promise<number> {
  return compactor.compact(never).catch((error: unknown) => {
    if (!isLockTimeout(error)) throw error;
    return 0;
  });
}

test('servers that compact, fill and write at the same time lose nothing, and keep the bytes of all that lives', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '0');
  const logs = Array.from({ length: 2 }, () => openLog(database.url));
  const states = new Map<string, string>();
  const until = { stopped: false };
  const keepWriting = async (log: PostgresLog, writer: number): Promise<void> => {
    const live = new Map<string, Revision>();
    for (let n = 0; !until.stopped; n += 1) {
      const name = `w${writer}-${(n * 7) % 23}`;
      const expected = live.get(name);
      const data = `${n} `.repeat(n % 300);
      live.set(
        name,
        await log.committer.commit(write(expected === undefined ? 'create' : 'update', name, expected, data)),
      );
      states.set(name, data);
    }
  };
  // The writers outrun it: it is stopped with them, and does not wait for a step that finds nothing.
  const keepFilling = async (): Promise<void> => {
    while (!until.stopped) await database.query("SELECT fill_objects(0, '0 s')");
  };
  const working = Promise.all([...logs.map(keepWriting), keepFilling()]);
  let dropped = 0;
  for (let round = 0; round < 6; round += 1) {
    await beginPartition(database);
    const reached = states.size;
    await vi.waitFor(() => expect(states.size).toBeGreaterThanOrEqual(Math.min(46, reached + 1)), PATIENCE);
    const counts = await Promise.all(logs.map(compactPatiently));
    dropped += counts.reduce((sum, count) => sum + count, 0);
  }
  until.stopped = true;
  await working;
  expect(dropped).toBeGreaterThan(1);
  expect(
    await database.query(
      `SELECT name FROM objects o
       WHERE object IS NULL AND NOT EXISTS (SELECT FROM revisions r WHERE r.revision = o.revision)`,
    ),
  ).toEqual([]);
  const [log] = logs;
  if (log === undefined) throw new Error('no log');
  for (const [way, found] of Object.entries(await readInAllWays(database, log)))
    expect(found, way).toEqual(Object.fromEntries([...states].sort()));
  await Promise.all(logs.map((one) => one.close()));
});
