import pg from 'pg';
import { expect, test } from 'vitest';
import { parseHistoryWindow } from '../../../src/options/history-window.ts';
import { setUpDatabase } from '../../../src/storage/postgres/setup.ts';
import { type Revision, toRevision } from '../../../src/storage/revision.ts';
import type { Write, WriteVerb } from '../../../src/storage/revision-log.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { beginPartition, fillObjects, openLog, write } from './kit.ts';
import { connect } from './stalls.ts';

const never = new AbortController().signal;
const EVENTS = { group: '', resource: 'events' };
const PODS = { group: '', resource: 'pods' };
/** Six are written all the time, the others every few hours. */
const NAMES = 200;
/** Made in the first hour and deleted in the eighth: its first row is still needed when the partition of that is thinned. */
const LONG_LIVED = `n${NAMES - 1}`;
const COMPACTED = { failure: { kind: 'compacted' } };

function writeOf(
  { group, resource }: typeof PODS,
  verb: WriteVerb,
  name: string,
  expected?: Revision,
): Write {
  const one = write(verb, name, expected, `${Math.random()}`);
  return { ...one, key: { ...one.key, group, resource } };
}

const openClosing = (url: string) => {
  const log = openLog(url);
  return Object.assign(log, { [Symbol.asyncDispose]: () => log.close() });
};

interface Past {
  /** Of both resources, after each write. */
  readonly states: Map<Revision, Map<string, Revision>>;
  readonly written: readonly Revision[];
}

const isPod = (key: string): boolean => key.startsWith('pods/');

/** Ten partitions, the first of which is ten hours old. */
async function live(database: TestDatabase, url: string): Promise<Past> {
  await using log = openClosing(url);
  const states = new Map<Revision, Map<string, Revision>>();
  const now = new Map<string, Revision>();
  let seed = 7;
  const draw = (below: number): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * below);
  };
  const written: Revision[] = [];
  let from = 0n;
  for (let hour = 10; hour > 0; hour -= 1) {
    for (let n = 0; n < 40; n += 1) {
      const isLongLived = n === 0 && (hour === 10 || hour === 3);
      const resource = !isLongLived && draw(8) === 0 ? PODS : EVENTS;
      const name = isLongLived ? LONG_LIVED : `n${draw(3) > 0 ? draw(6) : draw(NAMES - 1)}`;
      const key = `${resource.resource}/${name}`;
      const before = now.get(key);
      const verb = before === undefined ? 'create' : isLongLived || draw(4) === 0 ? 'delete' : 'update';
      const revision = await log.committer.commit(writeOf(resource, verb, name, before));
      if (verb === 'delete') now.delete(key);
      else now.set(key, revision);
      states.set(revision, new Map(now));
      written.push(revision);
    }
    await database.query(
      "UPDATE revisions SET committed_at = now() - $2 * interval '1 hour' + (revision % 1000) * interval '1 ms' WHERE revision > $1",
      [from.toString(), hour],
    );
    from = written.at(-1) ?? 0n;
    await beginPartition(database);
  }
  written.push(await log.committer.commit(writeOf(PODS, 'create', 'last')));
  await fillObjects(database);
  return { states, written };
}

/** A month of all, and so much of events; thins what can be thinned then. */
async function keepEvents(database: TestDatabase, window: string): Promise<void> {
  const windows = parseHistoryWindow(['30d', `events=${window}`], '--history-window');
  await setUpDatabase({ urls: [database.url], poolSize: 1 }, (setup) =>
    setup.keepHistoryWindow({ ...windows, isGiven: true }),
  );
  await using log = openClosing(database.url);
  await log.compactor.compact(never);
  await log.compactor.thin(never);
}

/** Vacuum may hold a copy up as well. */
async function settle(database: TestDatabase): Promise<void> {
  await using log = openClosing(database.url);
  await expect
    .poll(async () => {
      await log.compactor.thin(never);
      return database.query('SELECT thinning_is_due() AS due');
    })
    .toEqual([{ due: false }]);
}

/** As time does it: what is thinned first is older than what was replaced later. */
async function thin(database: TestDatabase): Promise<void> {
  for (const window of ['4h', '1h']) {
    await keepEvents(database, window);
    await settle(database);
  }
}

const boundOf = async (database: TestDatabase): Promise<Revision> => {
  const [row] = await database.query<{ revision: string }>(
    "SELECT compacted_revision('', 'events') AS revision",
  );
  return toRevision(row?.revision ?? 0);
};

const countOf = async (database: TestDatabase, resource: string): Promise<number> => {
  const rows = await database.query('SELECT FROM revisions WHERE resource = $1', [resource]);
  return rows.length;
};

test('rows of a resource with a shorter history leave early, and every state that its window or another resource needs is kept', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  const { states, written } = await live(database, database.url);
  const pods = await countOf(database, 'pods');
  const events = await countOf(database, 'events');
  const partitions = await database.query('SELECT low, high FROM log_partitions()');
  await thin(database);
  await using log = openClosing(database.url);

  const after = await database.query('SELECT low, high FROM log_partitions()');
  expect(after.slice(0, partitions.length)).toEqual(partitions);
  expect(await database.query('SELECT FROM thinning')).toEqual([]);
  expect(await countOf(database, 'pods')).toBe(pods);
  // Of ten hours, two are kept, and what outlived its own.
  expect(await countOf(database, 'events')).toBeLessThan(events * 0.6);

  const bound = await boundOf(database);
  const upTo = written.at(-1) ?? bound;
  for (const [revision, state] of states) {
    for (const resource of [EVENTS, PODS]) {
      const prefix = `${resource.resource}/`;
      const list = () => log.reader.listAt({ resource, scope: {}, revision, limit: 100 });
      const changes = () =>
        log.reader.changesBetween({ resource, scope: {}, after: revision, upTo, limit: 1000 });
      if (resource === EVENTS && revision < bound) {
        await expect(list()).rejects.toMatchObject(COMPACTED);
        await expect(changes()).rejects.toMatchObject(COMPACTED);
        continue;
      }
      const expected = [...state].filter(([key]) => key.startsWith(prefix));
      const found = (await list()).objects.map(
        ({ key, revision: at }) => [`${prefix}${key.name}`, at] as const,
      );
      expect(new Map(found)).toEqual(new Map(expected));
      const replayed = new Map(found);
      for (const { key, verb, revision: at } of await changes())
        if (verb === 'delete') replayed.delete(`${prefix}${key.name}`);
        else replayed.set(`${prefix}${key.name}`, at);
      const end = [...states.values()].at(-1) ?? new Map<string, Revision>();
      const last = [...end].filter(([key]) => key.startsWith(prefix));
      expect([...replayed].filter(([key]) => key !== 'pods/last').sort()).toEqual(last.sort());
    }
  }
  expect([...states.keys()].some((revision) => revision < bound)).toBe(true);
});

test('SQL answers of a resource within its own history alone, and knows what was deleted', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  const { states } = await live(database, database.url);
  await thin(database);
  await using log = openClosing(database.url);
  const bound = await boundOf(database);
  const ask = "SELECT object_at('', 'events', 'default', $1, $2::bigint) IS NOT NULL AS is_there";
  for (const [revision, state] of states) {
    if (revision < bound) continue;
    for (let n = 0; n < NAMES; n += 1) {
      const [row] = await database.query<{ is_there: boolean }>(ask, [`n${n}`, revision.toString()]);
      expect(row?.is_there).toBe(state.has(`events/n${n}`));
    }
  }
  const old = [...states.keys()][0]?.toString();
  await expect(database.query(ask, ['n1', old])).rejects.toThrow(
    'older than the history that is kept of events',
  );
  const older = await log.history.rows({
    order: 'oldest first',
    limit: 1000,
    states: 'none',
    resource: PODS,
  });
  expect(older.rows.length).toBe(await countOf(database, 'pods'));
  const all = await log.history.rows({ order: 'oldest first', limit: 1000, states: 'none' });
  expect(all.rows.filter(({ key, revision }) => key.resource === 'events' && revision <= bound)).toEqual([]);
});

test('the cluster before a shorter history lacks that resource as a whole and says so; asked for by name it is refused', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  const { states } = await live(database, database.url);
  await thin(database);
  const bound = await boundOf(database);
  const client = new pg.Client({ connectionString: database.url });
  await using _closing = { [Symbol.asyncDispose]: () => client.end() };
  const notices: string[] = [];
  client.on('notice', ({ message = '' }) => notices.push(message));
  await client.connect();
  const ask = async (text: string, values: readonly unknown[]): Promise<string[]> =>
    (await client.query<{ row: string }>(text, [...values])).rows.map(({ row }) => row);
  const keys = "SELECT resource || '/' || name AS row FROM";
  // Some on each side of the bound.
  for (const [revision, state] of [...states].filter((_, n) => n % 15 === 0)) {
    notices.length = 0;
    const isBefore = revision < bound;
    const expected = [...state.keys()].filter((key) => !isBefore || isPod(key)).sort();
    expect((await ask(`${keys} cluster_at($1::bigint)`, [revision])).sort()).toEqual(expected);
    expect((await ask(`${keys} cluster_at($1::bigint, 'default')`, [revision])).sort()).toEqual(expected);
    const notice = expect.stringMatching(
      `^left out: events,.* whose shorter history does not reach back to revision ${revision}$`,
    );
    expect(notices.filter((one) => one.includes('events'))).toEqual(isBefore ? [notice, notice] : []);
  }
  const [first = bound] = states.keys();
  const byName = (resource: string) =>
    ask(`${keys} cluster_at($1::bigint, 'default', $2)`, [first, resource]);
  await expect(byName('events')).rejects.toThrow('older than the history that is kept of events');
  expect(await byName('pods')).toEqual([...(states.get(first)?.keys() ?? [])].filter(isPod));
  const different = await ask('SELECT DISTINCT what AS row FROM cluster_diff($1::bigint, $2::bigint)', [
    first,
    [...states.keys()].at(-1),
  ]);
  expect(different).toEqual(['pods']);
  const inNamespace =
    "SELECT DISTINCT what AS row FROM cluster_diff(now() - interval '10 hours', now(), 'default')";
  expect(await ask(inNamespace, [])).toEqual(['pods']);
});

test('the copy of a partition waits for transactions that began before it, and a tail from before it begins afresh', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  const { written } = await live(database, database.url);
  const first = written[0] ?? toRevision(0);
  await using log = openClosing(database.url);
  const before = (await database.query('SELECT FROM revisions')).length;
  await using reader = await connect(database.url);
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await reader.query('SELECT 1');
  await keepEvents(database, '1h');
  expect(await reader.query('SELECT FROM revisions')).toHaveLength(before);
  expect((await log.reader.tailPage(first, 10)).compacted).toBeLessThan(first);
  await reader.query('COMMIT');
  await settle(database);
  expect((await database.query('SELECT FROM revisions')).length).toBeLessThan(before * 0.7);
  expect((await log.reader.tailPage(first, 10)).compacted).toBeGreaterThan(first);
});

/** What a server says of thinning that it tries in vain. */
async function complaints(url: string): Promise<string[]> {
  const troubles: string[] = [];
  const log = openLog(url, { onTrouble: (message) => troubles.push(message) });
  for (let time = 0; time < 35; time += 1) await log.compactor.thin(never).catch(() => {});
  await log.close();
  return troubles;
}

async function begin(url: string, name: string, text: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: name });
  await client.connect();
  await client.query(`BEGIN; ${text}`);
  return client;
}

const inTheWay = (name: string) =>
  expect.stringMatching(
    `^old rows of resources with a shorter history cannot be removed, because process \\d+ \\(application ${name}, user \\w+, idle in transaction, its transaction began \\d+ s ago\\) may read them: end that transaction$`,
  );

test('a transaction that keeps old rows from leaving, by its age or by what it reads, is named after some tries', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  await live(database, database.url);
  const older = await begin(database.url, 'older', 'SELECT 1');
  await keepEvents(database, '1h');
  expect(await complaints(database.url)).toEqual([inTheWay('older')]);
  const reader = await begin(database.url, 'reader', 'SELECT FROM revisions');
  await older.end();
  expect(await complaints(database.url)).toEqual([inTheWay('reader')]);
  await reader.end();
  await settle(database);
});

test('old rows leave while a user keeps an advisory lock, and not while another server removes some', async () => {
  await using database = await createTestDatabase();
  await live(database, database.url);
  const before = await countOf(database, 'events');
  const server = await begin(database.url, 'server', 'LOCK TABLE thinning IN SHARE UPDATE EXCLUSIVE MODE');
  await keepEvents(database, '1h');
  expect(await database.query('SELECT thin_partition() AS answer')).toEqual([{ answer: 'nothing' }]);
  await server.end();
  const lock = "pg_advisory_lock('commit_order'::regclass::oid::int, hashtext('pg-apiserver thins'))";
  const user = await begin(database.url, 'user', `SELECT ${lock}; COMMIT`);
  await settle(database);
  expect(await countOf(database, 'events')).toBeLessThan(before);
  await user.end();
});

test('nothing leaves early while a server may run that knows nothing of shorter histories', async () => {
  await using database = await createTestDatabase();
  await live(database, database.url);
  await database.query('UPDATE compaction SET thins = false');
  const before = (await database.query('SELECT FROM revisions')).length;
  await keepEvents(database, '1h');
  expect(await database.query('SELECT FROM revisions')).toHaveLength(before);
});

test('a window that reaches back further than what is compacted of all cuts nothing off', async () => {
  await using database = await createTestDatabase();
  const { written } = await live(database, database.url);
  const last = written.at(-1)?.toString();
  // As after a time with a window of minutes.
  await database.query('UPDATE compaction SET revision = $1::bigint - 2, committed_at = now()', [last]);
  await keepEvents(database, '1h');
  expect(await database.query('SELECT shorter FROM compaction')).toMatchObject([
    { shorter: { events: { revision: 0 }, 'leases.coordination.k8s.io': { revision: 0 } } },
  ]);
});
