import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { StorageError } from '../../../src/storage/errors.ts';
import { NO_REVISION } from '../../../src/storage/revision.ts';
import { endTogether, startDatabaseProxy } from '../../kit/database-proxy.ts';
import { holdWrites } from '../../kit/held-writes.ts';
import { createTestDatabase } from '../../postgres.ts';
import { openLog, Recorder, write } from './kit.ts';

const CUT = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE application_name LIKE 'pg-apiserver commits%' AND datname = current_database()`;

const kindOf = (error: unknown): string =>
  error instanceof StorageError ? error.failure.kind : String(error);

test('a write becomes one revision, with who did it, and the object comes back byte for byte', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const first = write('create', 'a', undefined, 'NUL \0, half a pair \ud800, ünïcode, "quotes", \\u0000');
  const revision = await log.committer.commit(first);
  const stored = await log.reader.get(first.key);
  expect(stored?.revision).toBe(revision);
  expect(stored?.json.equals(first.json)).toBe(true);
  const rows = await database.query('SELECT username, verb, request_id, previous_revision FROM revisions');
  expect(rows).toEqual([
    { username: 'tester', verb: 'create', request_id: first.attribution.requestId, previous_revision: null },
  ]);
  await log.close();
});

test('a write that expected something else is refused alone, and says what is there', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const { committer } = log;
  const first = await committer.commit(write('create', 'a'));
  const outcomes = await Promise.allSettled([
    committer.commit(write('create', 'a')),
    committer.commit(write('update', 'missing', first)),
    committer.commit(write('create', 'b')),
  ]);
  expect(outcomes.map((outcome) => (outcome.status === 'rejected' ? kindOf(outcome.reason) : 'ok'))).toEqual([
    'exists',
    'not-found',
    'ok',
  ]);
  const second = await committer.commit(write('update', 'a', first));
  await expect(committer.commit(write('update', 'a', first))).rejects.toMatchObject({
    failure: { kind: 'conflict', current: second },
  });
  await committer.commit(write('delete', 'a', second));
  await expect(committer.commit(write('delete', 'a', second))).rejects.toMatchObject({
    failure: { kind: 'not-found' },
  });
  await log.close();
});

test('what clients say of themselves is kept as far as PostgreSQL can hold it', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const { attribution, ...rest } = write('create', 'a');
  const said = {
    username: 'Zoë \ud83d\ude80',
    userAgent: 'a\0b',
    fieldManager: 'half \ud83d pair',
    requestId: '',
  };
  await log.committer.commit({ ...rest, attribution: { ...attribution, ...said } });
  const rows = await database.query('SELECT username, user_agent, field_manager, request_id FROM revisions');
  expect(rows).toEqual([
    { username: 'Zoë \ud83d\ude80', user_agent: 'ab', field_manager: 'half \ufffd pair', request_id: '' },
  ]);
  await log.close();
});

test('of a batch with every verb, each write does what it alone would have done', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const { committer } = log;
  const at = await Promise.all(['a', 'b', 'c', 'd'].map((name) => committer.commit(write('create', name))));
  const expiresAt = new Date(Date.now() + 3_600_123);
  const outcomes = await Promise.allSettled([
    committer.commit(write('delete', 'a', at[0])),
    committer.commit(write('delete', 'b', at[0])),
    committer.commit({ ...write('update', 'c', at[2]), expiresAt }),
    committer.commit(write('update', 'd', at[2])),
    committer.commit({ ...write('create', 'e'), expiresAt }),
    committer.commit(write('create', 'd')),
  ]);
  const kinds = outcomes.map((outcome) => (outcome.status === 'rejected' ? kindOf(outcome.reason) : 'ok'));
  expect(kinds).toEqual(['ok', 'conflict', 'ok', 'conflict', 'ok', 'exists']);
  const written = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : undefined));
  const objects = await database.query(
    'SELECT name, revision, extract(epoch FROM expires_at) * 1000 AS ends FROM objects ORDER BY name',
  );
  expect(objects.map(({ name, revision }) => [name, BigInt(String(revision))])).toEqual([
    ['b', at[1]],
    ['c', written[2]],
    ['d', at[3]],
    ['e', written[4]],
  ]);
  const ends = objects.map(({ ends }) => (ends === null ? null : Number(ends)));
  expect(ends).toEqual([null, expiresAt.getTime(), null, expiresAt.getTime()]);
  const loggedRows = await database.query(
    'SELECT previous_revision FROM revisions ORDER BY revision OFFSET 4',
  );
  expect(loggedRows.map((row) => row.previous_revision && BigInt(String(row.previous_revision)))).toEqual([
    at[0],
    at[2],
    null,
  ]);
  await log.close();
});

test('with writers on two servers, revisions arrive at both in rising order, none missing and none twice', async () => {
  await using database = await createTestDatabase();
  const logs = [openLog(database.url), openLog(database.url)];
  const stop = new AbortController();
  const recorders = logs.map(() => new Recorder());
  const running = logs.map((log, at) =>
    log.feed.run(NO_REVISION, recorders[at] ?? new Recorder(), stop.signal),
  );
  const revisions = await Promise.all(
    logs.flatMap((log, server) =>
      Array.from({ length: 10 }, async (_, writer) => {
        const mine = [];
        for (let n = 0; n < 40; n += 1)
          mine.push(await log.committer.commit(write('create', `${server}-${writer}-${n}`)));
        return mine;
      }),
    ),
  );
  const expected = revisions.flat().sort((a, b) => (a < b ? -1 : 1));
  for (const recorder of recorders) {
    await recorder.reached(expected.at(-1) ?? NO_REVISION);
    expect(recorder.changes.map(({ revision }) => revision)).toEqual(expected);
  }
  stop.abort();
  await Promise.all(running);
  await Promise.all(logs.map((log) => log.close()));
});

test('one key written by many at once: every success is one revision, every other is a conflict', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const created = await log.committer.commit(write('create', 'contended'));
  const outcomes = await Promise.allSettled(
    Array.from({ length: 50 }, (_, n) => log.committer.commit(write('update', 'contended', created, `${n}`))),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const rows = await database.query<{ count: string }>('SELECT count(*) FROM revisions');
  expect(rows[0]?.count).toBe('2');
  await log.close();
});

test('a commit whose connection is cut is answered with what really happened', { tags: 'long' }, async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const names = Array.from({ length: 600 }, (_, n) => `w${n}`);
  const outcomes: bigint[] = [];
  for (let at = 0; at < names.length; at += 20) {
    const wave = names.slice(at, at + 20).map((name) => log.committer.commit(write('create', name)));
    // While the batch is on its way, at any point of it.
    const cut = new Promise((resolve) => setTimeout(resolve, at % 7)).then(() => database.query(CUT));
    outcomes.push(...(await Promise.all(wave)));
    await cut;
  }
  const rows = await database.query<{ name: string; revision: string }>(
    'SELECT name, revision::text FROM revisions ORDER BY revision',
  );
  expect(rows).toHaveLength(names.length);
  expect(new Set(rows.map(({ revision }) => revision))).toEqual(new Set(outcomes.map(String)));
  await log.close();
});

test('of two batches under way one may lose its connection: neither is forgotten, none is made twice', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const lanes = new Set<unknown>();
  const outcomes: bigint[] = [];
  let isOver = false;
  // The next cut comes when writes have been answered since the last one: cut by the clock, a busy machine would never get through.
  const cutting = (async () => {
    for (let answered = 0; !isOver; ) {
      if (outcomes.length > answered) {
        answered = outcomes.length;
        const cut = await database.query(
          `${CUT.replace('SELECT', 'SELECT application_name,')} ORDER BY random() LIMIT 1`,
        );
        for (const { application_name: lane } of cut) lanes.add(lane);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  const writer = async (_: unknown, at: number): Promise<void> => {
    for (let n = 0; n < 25 || (lanes.size < 2 && n < 500); n += 1) {
      // Writers in step would all go with one batch.
      await new Promise((resolve) => setTimeout(resolve, at % 7));
      outcomes.push(await log.committer.commit(write('create', `w${at}-${n}`)));
    }
  };
  await Promise.all(Array.from({ length: 60 }, writer)).finally(() => {
    isOver = true;
    return cutting;
  });
  const rows = await database.query<{ revision: string }>('SELECT revision::text FROM revisions');
  expect(rows).toHaveLength(outcomes.length);
  expect(new Set(rows.map(({ revision }) => revision))).toEqual(new Set(outcomes.map(String)));
  expect(lanes.size).toBe(2);
  await log.close();
});

/** Stands between a server and PostgreSQL, and can keep the answers of the next connection that speaks to itself. */
async function startMuffler(url: string) {
  const muted = new Set<Socket>();
  let mutesNext = false;
  const proxy = await startDatabaseProxy(url, (client, reach) => {
    const server = reach();
    client.on('data', (bytes) => {
      if (mutesNext) muted.add(client);
      mutesNext = false;
      server.write(bytes);
    });
    server.on('data', (bytes) => muted.has(client) || client.write(bytes));
    endTogether(client, server);
  });
  return {
    ...proxy,
    muteNext: () => {
      mutesNext = true;
    },
    cutMuted: () => {
      for (const client of muted) client.destroy();
    },
  };
}

test('a write whose answer is lost is found, also behind commits of other batches', async () => {
  await using database = await createTestDatabase();
  using muffler = await startMuffler(database.url);
  const log = openLog(muffler.url);
  const first = await log.committer.commit(write('create', 'first'));
  muffler.muteNext();
  const lost = log.committer.commit(write('create', 'lost'));
  await expect.poll(() => database.query("SELECT FROM objects WHERE name = 'lost'")).toHaveLength(1);
  const later = await Promise.all(
    Array.from({ length: 20 }, (_, n) => log.committer.commit(write('create', `later${n}`))),
  );
  muffler.cutMuted();
  expect(await lost).toBe(first + 1n);
  expect(later).toContain(first + 21n);
  expect(await database.query('SELECT FROM revisions')).toHaveLength(22);
  await log.close();
});

test('a write whose caller has given up is not made, unless it is on its way', async () => {
  await using database = await createTestDatabase();
  await using held = await holdWrites(database.url);
  const log = openLog(database.url);
  const [first, second] = [{ aborted: false }, { aborted: false }];
  const sent = log.committer.commit({ ...write('create', 'sent'), caller: first });
  await held.awaited();
  const queued = log.committer.commit({ ...write('create', 'queued'), caller: second });
  const abandoned = expect(queued).rejects.toMatchObject({ failure: { kind: 'abandoned' } });
  first.aborted = true;
  second.aborted = true;
  await held.release();
  await sent;
  await abandoned;
  expect(await database.query('SELECT name FROM revisions')).toEqual([{ name: 'sent' }]);
  await log.close();
});
