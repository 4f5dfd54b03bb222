import { expect, test } from 'vitest';
import { createKeySealer } from '../../../src/storage/key-sealer.ts';
import { cancelMove, moveResource } from '../../../src/storage/postgres/moving/move.ts';
import type { Revision } from '../../../src/storage/revision.ts';
import { TestRoles } from '../../kit/roles.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { beginPartition, fillObjects, keepHistory, openLog, write } from './kit.ts';

const MAPS = { group: '', resource: 'configmaps' };
const SECRETS = { group: '', resource: 'secrets' };
const MOVED = { failure: { kind: 'moved' } };

const openClosing = (url: string) => {
  const log = openLog(url);
  return Object.assign(log, { [Symbol.asyncDispose]: () => log.close() });
};

const secret = (name: string) => {
  const one = write('create', name);
  return { ...one, key: { ...one.key, ...SECRETS } };
};

const begin = async (database: TestDatabase, target = 'postgres://elsewhere'): Promise<string> => {
  const text = "SELECT move FROM begin_move('', 'configmaps', $1)";
  return (await database.query<{ move: string }>(text, [target]))[0]?.move ?? '';
};

/** Moves config maps without any server. `interrupt` is called before each page that the new database takes. */
async function move(
  from: string,
  to: string,
  interrupt: (pages: number, stop: AbortController) => void = () => {},
): Promise<string[]> {
  const said: string[] = [];
  const stop = new AbortController();
  let pages = 0;
  await moveResource({
    resource: MAPS,
    source: { urls: [from], poolSize: 1 },
    target: { urls: [to], poolSize: 1 },
    sealer: createKeySealer(undefined),
    progress: {
      begin: () => {},
      add: () => {
        pages += 1;
        interrupt(pages, stop);
      },
    },
    say: (line) => said.push(line),
    signal: stop.signal,
  });
  return said;
}

interface Tables {
  readonly log: string[];
  readonly superseded: string[];
  readonly objects: string[];
}

/** All that a database knows of config maps, but for what tells it where it lies in its own log. */
async function tablesOf({ query }: Pick<TestDatabase, 'query'>): Promise<Tables> {
  const rows = async (text: string): Promise<string[]> =>
    (await query<{ row: string }>(text)).map(({ row }) => row);
  const log =
    "(SELECT to_jsonb(r) - 'follows_revision' AS j FROM revisions r WHERE resource = 'configmaps' AND revision >= (SELECT low FROM log_bounds))";
  return {
    log: await rows(`SELECT j::text AS row FROM ${log} l ORDER BY (j ->> 'revision')::bigint`),
    superseded: await rows(
      "SELECT row_to_json(s)::text AS row FROM superseded s WHERE resource = 'configmaps' ORDER BY revision",
    ),
    objects: await rows(
      "SELECT concat_ws(' ', name, revision, uid, modified_at, object) AS row FROM objects_with_bytes WHERE resource = 'configmaps' ORDER BY name",
    ),
  };
}

/** Three partitions, the first of which has left the log: of its states some live, and some were replaced since. */
async function live(database: TestDatabase): Promise<void> {
  await using log = openClosing(database.url);
  const revisions = new Map<string, Revision>();
  const put = async (name: string, verb: 'create' | 'update' | 'delete'): Promise<void> => {
    revisions.set(
      name,
      await log.committer.commit(write(verb, name, revisions.get(name), `${verb} of ${name}`)),
    );
    await log.committer.commit(secret(`${name}-${verb}-${revisions.get(name)}`));
  };
  for (const name of ['untouched', 'replaced', 'removed']) await put(name, 'create');
  await beginPartition(database);
  await put('replaced', 'update');
  await put('removed', 'delete');
  await put('young', 'create');
  await keepHistory(database, '1 day');
  await database.query('UPDATE compaction SET revision = $1', [
    String((revisions.get('replaced') ?? 1n) - 1n),
  ]);
  await fillObjects(database);
  for (let step = ''; step !== 'nothing'; )
    step = (await database.query<{ step: string }>('SELECT leave_partition() AS step'))[0]?.step ?? '';
  await beginPartition(database);
  await put('young', 'update');
  await put('replaced', 'update');
}

test('a copy has every row: those of the log, superseded states, and objects that are older than the log', async () => {
  await using database = await createTestDatabase();
  await using target = await createTestDatabase();
  await live(database);
  const before = await tablesOf(database);
  const [newest] = await database.query<{ max: string }>('SELECT max(revision) FROM revisions');
  const at = "SELECT name, object FROM cluster_at($1) WHERE resource = 'configmaps' ORDER BY name";
  const past = [newest?.max];
  const then = await database.query(at, past);
  expect(then).toHaveLength(3);
  await move(database.url, target.url);
  expect(await tablesOf(target)).toEqual(before);
  expect(before.superseded).not.toEqual([]);
  expect((await tablesOf(database)).objects).toEqual([]);
  expect(await target.query(at, past)).toEqual(then);

  // What is written there is newer than all that clients know, and follows the log.
  await using log = openClosing(target.url);
  const next = await log.committer.commit(write('create', 'next'));
  const [moved] = await database.query<{ moved_at: string }>('SELECT moved_at FROM moves');
  expect(next).toBe(BigInt(moved?.moved_at ?? 0) + 1n);
  const chain = await target.query(
    'SELECT FROM (SELECT follows_revision AS follows, lag(revision, 1, 0::bigint) OVER (ORDER BY revision) AS before FROM revisions) r WHERE follows <> before',
  );
  expect(chain).toEqual([]);
});

test('a copy that was cut off goes on, and begins anew where the log has lost rows that it lacks', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  await using target = await createTestDatabase();
  await live(database);
  await expect(move(database.url, target.url, (pages, stop) => pages === 2 && stop.abort())).rejects.toThrow(
    'begins the copy anew',
  );
  expect(await target.query('SELECT copied_to FROM arrival')).toEqual([{ copied_to: null }]);
  await expect(move(database.url, target.url, (pages, stop) => pages === 4 && stop.abort())).rejects.toThrow(
    'stopped',
  );
  expect(await target.query('SELECT FROM arrival WHERE copied_to IS NOT NULL')).toHaveLength(1);

  // A deletion that no log has any more: going on would keep the object.
  await database.query("DELETE FROM objects WHERE name = 'young'");
  const short = `UPDATE compaction SET shorter = jsonb_build_object('configmaps', jsonb_build_object('window', 1, 'thinned', 0, 'revision', (SELECT max(revision) FROM revisions)))`;
  await database.query(short);
  const said = await move(database.url, target.url);
  expect(said.filter((line) => line.includes('goes on'))).toEqual([]);
  expect((await tablesOf(target)).objects).not.toEqual([expect.stringContaining('young')]);
});

test('writes of a resource that moves are refused for a while, those of others never, and after the cut-over for good', async () => {
  await using database = await createTestDatabase();
  await using log = openClosing(database.url);
  const first = await log.committer.commit(write('create', 'a'));
  const id = await begin(database);
  expect(await begin(database)).toBe(id);
  await log.committer.commit(write('create', 'while-copying'));

  await database.query('SELECT close_for_move($1, 60000)', [id]);
  await expect(log.committer.commit(write('update', 'a', first))).rejects.toMatchObject(MOVED);
  const outcomes = await Promise.allSettled([
    log.committer.commit(write('create', 'b')),
    log.committer.commit(secret('b')),
    log.committer.commit({ ...write('create', 'c'), holds: [{ pool: 'p', value: '1', kept: false }] }),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);

  // The time is up: writes go on, and the copy may lack them.
  await database.query('SELECT close_for_move($1, 0)', [id]);
  expect(await database.query('SELECT cut_over($1)', [id])).toEqual([{ cut_over: null }]);
  await database.query("UPDATE moves SET closed_until = now() + interval '1 minute'");
  await expect(log.committer.commit(write('create', 'd'))).rejects.toMatchObject(MOVED);
  await database.query('UPDATE moves SET closed_until = now()');
  await log.committer.commit(write('create', 'd'));
  // Another clock says that the time is not up: the log knows better.
  await database.query("UPDATE moves SET closed_until = now() + interval '1 minute'");
  expect(await database.query('SELECT cut_over($1)', [id])).toEqual([{ cut_over: null }]);

  await database.query('SELECT close_for_move($1, 60000)', [id]);
  const [cut] = await database.query<{ cut_over: string }>('SELECT cut_over($1)', [id]);
  expect(await database.query('SELECT cut_over($1)', [id])).toEqual([cut]);
  await database.query('UPDATE moves SET closed_until = now()');
  await expect(log.committer.commit(write('update', 'a', first))).rejects.toMatchObject(MOVED);
  await database.query("UPDATE objects SET expires_at = now() - interval '1 minute' WHERE name = 'a'");
  expect(await log.expirer.expire()).toBe(0);
  await log.committer.commit(secret('later'));
});

test('a move is given up before its cut-over and not after, and never leads to a database that has objects', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  await using full = await createTestDatabase();
  await using log = openClosing(database.url);
  await using other = openClosing(full.url);
  await other.committer.commit(write('create', 'its-own'));
  await log.committer.commit(write('create', 'a'));
  await expect(move(database.url, full.url)).rejects.toThrow('configmaps needs an empty one of its own');
  expect(await database.query('SELECT FROM moves')).toEqual([]);

  const id = await begin(database);
  await expect(move(database.url, full.url)).rejects.toThrow();
  await database.query('SELECT close_for_move($1, 60000)', [id]);
  expect(await cancelMove({ urls: [database.url], poolSize: 1 }, MAPS)).toBe(true);
  await log.committer.commit(write('create', 'b'));
  expect(await cancelMove({ urls: [database.url], poolSize: 1 }, MAPS)).toBe(false);
  await using empty = await createTestDatabase();
  await move(database.url, empty.url);
  expect(await cancelMove({ urls: [database.url], poolSize: 1 }, MAPS)).toBe(false);
  await using second = await createTestDatabase();
  await expect(move(database.url, second.url)).rejects.toThrow('configmaps was moved to');
});

test('roles that serve have all rights that a move takes, in both databases, and readers see no URL', async () => {
  await using database = await createTestDatabase();
  await using target = await createTestDatabase();
  await using roles = new TestRoles(database);
  const url = await roles.make('server');
  await roles.make('reader');
  for (const { query } of [database, target])
    await query('SELECT grant_server($1), grant_reader($2)', [
      roles.nameOf('server'),
      roles.nameOf('reader'),
    ]);
  await using log = openClosing(database.url);
  await log.committer.commit(write('create', 'a'));
  const there = new URL(target.url);
  there.username = new URL(url).username;
  there.password = 'secret';
  await move(url, there.href);
  expect((await tablesOf(target)).objects).toHaveLength(1);
  const rights = await database.query<{ may: boolean }>(
    "SELECT has_table_privilege($1, 'moves', 'SELECT') AS may",
    [roles.nameOf('reader')],
  );
  expect(rights).toEqual([{ may: false }]);
  await target.query(`DROP OWNED BY ${roles.nameOf('server')}, ${roles.nameOf('reader')}`);
});
