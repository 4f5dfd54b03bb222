// @module-tag long
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster, type Watch } from '../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** A resource gets a database of its own while two servers serve it, and the command that moves it is killed again and again. */

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const MAPS = '/api/v1/namespaces/default/configmaps';

let database: TestDatabase;
let target: TestDatabase;
let secrets: TestDatabase;
let servers: Cluster[];
let last: Cluster | undefined;

beforeAll(async () => {
  [database, target] = await Promise.all([createTestDatabase(), createTestDatabase({ empty: true })]);
  servers = [await startCluster(database.url), await startCluster(database.url)];
}, 120_000);

afterAll(async () => {
  await Promise.all([...(servers ?? []), last].map((server) => server?.[Symbol.asyncDispose]()));
  await Promise.all([database, target, secrets].map((one) => one?.drop()));
});

const at = (index: number): Cluster => servers[index % servers.length] as Cluster;

interface Outcome {
  readonly code: number | null;
  readonly text: string;
}

function startMove(args: readonly string[]): {
  readonly child: ChildProcess;
  readonly ended: Promise<Outcome>;
} {
  const child = spawn(process.execPath, [MAIN, 'move', ...args, `--kvstore-servers=${database.url}`]);
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  return { child, ended: new Promise((resolve) => child.once('exit', (code) => resolve({ code, text }))) };
}

const move = (...args: string[]): Promise<Outcome> => startMove(args).ended;

/** Writes without end: what was acknowledged is what must be there. */
class Load {
  readonly present = new Map<string, string>();
  readonly gone = new Set<string>();
  readonly failures: string[] = [];
  readonly #isOver = { is: false };
  readonly #writers: Promise<void>[];
  writes = 0;

  constructor() {
    this.#writers = Array.from({ length: 6 }, (_, writer) => this.#write(writer));
  }

  async end(): Promise<void> {
    this.#isOver.is = true;
    await Promise.all(this.#writers);
  }

  async #write(writer: number): Promise<void> {
    for (let n = 0; !this.#isOver.is; n += 1) {
      const name = `w${writer}-${n}`;
      const made = await at(writer).request('POST', MAPS, { metadata: { name }, data: { n: '0' } });
      if (!this.#isFine('POST', made.code, made.text)) continue;
      const path = `${MAPS}/${name}`;
      // The other server: it must see what the first has acknowledged.
      const seen = await at(writer + 1).request('GET', path);
      if (!this.#isFine(`GET ${name}`, seen.code, seen.text)) continue;
      const put = await at(writer + 1).request('PUT', path, { ...seen.json, data: { n: '1' } });
      if (!this.#isFine('PUT', put.code, put.text)) continue;
      this.present.set(name, put.json.metadata.resourceVersion);
      if (n % 3 > 0) continue;
      const removed = await at(writer).request('DELETE', path);
      if (!this.#isFine('DELETE', removed.code, removed.text)) continue;
      this.present.delete(name);
      this.gone.add(name);
    }
  }

  #isFine(what: string, code: number, text: string): boolean {
    this.writes += 1;
    if (code === 200 || code === 201) return true;
    this.failures.push(`${what}: ${code} ${text}`);
    return false;
  }
}

const versionsOf = (watch: Watch): number[] =>
  watch.events.map(({ object }) => Number(object.metadata.resourceVersion));

test('a resource moves while two servers write it, and the move is killed again and again', async () => {
  const before = await at(0).request('POST', MAPS, { metadata: { name: 'before' }, data: { n: 'first' } });
  const first: string = before.json.metadata.resourceVersion;
  await at(0).request('PUT', `${MAPS}/before`, { metadata: { name: 'before' }, data: { n: 'second' } });
  const watches = [0, 1].map((n) =>
    at(n).watch(`${MAPS}?watch=1&resourceVersion=${first}&allowWatchBookmarks=true`),
  );
  const load = new Load();
  const outcomes: string[] = [];
  for (const afterMs of [300, 500, 700, 900, 1100]) {
    const { child, ended } = startMove(['/configmaps', `--to=${target.url}`]);
    const timer = setTimeout(() => child.kill('SIGKILL'), afterMs);
    const { code, text } = await ended;
    clearTimeout(timer);
    outcomes.push(`${code}: ${text}`);
    if (code === 0) break;
  }
  const { code, text } = await move('/configmaps', `--to=${target.url}`);
  expect(code, text).toBe(0);
  expect(text).toContain(`--kvstore-servers-overrides=/configmaps#`);
  const after = load.writes;
  await expect.poll(() => load.writes, { timeout: 60_000 }).toBeGreaterThan(after + 100);
  await load.end();
  expect(load.failures).toEqual([]);

  // No acknowledged write is lost, and none is undone.
  for (const server of servers) {
    const { json } = await server.request('GET', MAPS);
    const items = new Map<string, string>(
      json.items.map((item: { metadata: { name: string; resourceVersion: string } }) => [
        item.metadata.name,
        item.metadata.resourceVersion,
      ]),
    );
    expect([...load.present].filter(([name, version]) => items.get(name) !== version)).toEqual([]);
    expect([...load.gone].filter((name) => items.has(name))).toEqual([]);
    expect(Number(json.metadata.resourceVersion)).toBeGreaterThanOrEqual(
      Math.max(...versionsOf(watches[0] as Watch)),
    );
  }

  // Watches went on, with each change once and in order.
  const end = await at(0).request('POST', MAPS, { metadata: { name: 'end' } });
  for (const watch of watches) {
    await expect.poll(() => versionsOf(watch).includes(Number(end.json.metadata.resourceVersion))).toBe(true);
    const changes = watch.events.filter(({ type }) => type !== 'BOOKMARK');
    expect(changes.filter(({ type }) => type === 'ERROR')).toEqual([]);
    const seen = changes.map(
      ({ type, object }) => `${type} ${object.metadata.name} ${object.metadata.resourceVersion}`,
    );
    const rows = await target.query<{ row: string }>(
      `SELECT CASE verb WHEN 'create' THEN 'ADDED' WHEN 'update' THEN 'MODIFIED' ELSE 'DELETED' END || ' ' || name || ' ' || revision AS row
       FROM revisions WHERE resource = 'configmaps' AND namespace = 'default' AND revision > $1 ORDER BY revision`,
      [first],
    );
    expect(seen).toEqual(rows.map(({ row }) => row));
    expect(versionsOf(watch)).toEqual(versionsOf(watch).toSorted((a, b) => a - b));
    watch.stop();
  }

  // The past is there, by the API as well.
  const past = await at(1).request('GET', `${MAPS}/before?asOf=${first}`);
  expect(past.json.data).toEqual({ n: 'first' });
  const left = await database.query<{ count: string }>(
    "SELECT count(*) FROM objects WHERE resource = 'configmaps'",
  );
  expect(left[0]?.count).toBe('0');
}, 180_000);

test('the command may be killed right after the cut-over, and servers are started with the flag or without it', async () => {
  secrets = await createTestDatabase({ empty: true });
  const path = '/api/v1/namespaces/default/secrets';
  await at(0).request('POST', path, { metadata: { name: 'a' } });
  const { child, ended } = startMove(['/secrets', `--to=${secrets.url}`]);
  // The new database is locked when all is copied, so that it cannot begin to serve: the command hangs after the cut-over.
  const isCopied = async (): Promise<boolean> =>
    (await secrets.query('SELECT FROM arrival WHERE copied_to IS NOT NULL').catch(() => [])).length > 0;
  await expect.poll(isCopied, { interval: 1 }).toBe(true);
  const lock = new pg.Client({ connectionString: secrets.url });
  await lock.connect();
  await lock.query('BEGIN');
  await lock.query('SELECT FROM arrival FOR UPDATE');
  const isMoved = async (): Promise<boolean> =>
    (await database.query("SELECT FROM moves WHERE resource = 'secrets' AND moved_at IS NOT NULL")).length >
    0;
  await expect.poll(isMoved, { interval: 5 }).toBe(true);
  child.kill('SIGKILL');
  await ended;
  const written = at(1).request('POST', path, { metadata: { name: 'b' } });
  const read = at(0).request('GET', `${path}/a`);
  await lock.query('ROLLBACK');
  await lock.end();
  expect((await written).code).toBe(201);
  expect((await read).code).toBe(200);
  expect(await secrets.query("SELECT FROM objects WHERE name = 'b'")).toHaveLength(1);

  const flag = (url: string): string => `--kvstore-servers-overrides=/secrets#${url}`;
  await (servers[0] as Cluster).stop();
  await (servers[0] as Cluster).start();
  last = await startCluster(database.url, [flag(secrets.url)]);
  for (const server of [...servers, last]) expect((await server.request('GET', `${path}/b`)).code).toBe(200);
  await expect(startCluster(database.url, [flag(target.url)])).rejects.toThrow(
    'secrets was moved to another database',
  );

  // What was left behind goes when the command is run again.
  const { code, text } = await move('/secrets', `--to=${secrets.url}`);
  expect(code, text).toBe(0);
  expect(await database.query("SELECT FROM objects WHERE resource = 'secrets'")).toEqual([]);

  // There is no way back, and a database that the command cannot use stays as it is.
  await using empty = await createTestDatabase({ empty: true });
  for (const args of [[`--to=${empty.url}`], [`--to=${database.url}`], ['--cancel']])
    expect(await move('/secrets', ...args)).toEqual({
      code: 1,
      text: expect.stringMatching(/secrets was moved to .*, and a resource moves once: .* import --from=/),
    });
  expect(await empty.query("SELECT to_regclass('schema_migrations') AS made")).toEqual([{ made: null }]);
}, 180_000);
