import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, expect, type TestContext, test } from 'vitest';
import { postgresAccount } from '../../../src/cli/embedded/account.ts';
import { EmbeddedPostgres } from '../../../src/cli/embedded/embedded-postgres.ts';
import { tidySharedRoot } from '../../../src/cli/embedded/leftovers.ts';

const account = postgresAccount();

beforeEach((context: TestContext) => {
  if (account === undefined) context.skip('only root hands PostgreSQL to another account');
});

/** Root's, and open to all to pass, as data directories are. */
function rootFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'pg-apiserver-root-'));
  chmodSync(path, 0o755);
  return path;
}

const give = (path: string): void => chownSync(path, account?.uid ?? 0, account?.gid ?? 0);

function asAccount(script: string, ...args: string[]): void {
  execFileSync('sh', ['-ec', script, 'sh', ...args], { ...account, cwd: '/', stdio: 'pipe' });
}

const embedded = (folder: string, messages: string[] = []): EmbeddedPostgres =>
  new EmbeddedPostgres({
    folder,
    port: 0,
    settings: ['fsync=off'],
    onProgress: (message) => messages.push(message),
    sharedRoot: join(tmpdir(), 'shared'),
  });

test('root follows none of the links that the account has planted in its folder', {
  tags: 'long',
}, async () => {
  const data = rootFolder();
  const folder = join(data, 'postgres');
  mkdirSync(folder);
  // An earlier version gave the whole folder to the account.
  give(folder);
  const victims = join(rootFolder(), 'victims');
  mkdirSync(join(victims, 'folder'), { recursive: true, mode: 0o700 });
  const files = ['password', 'password.initdb', 'postgres.log', 'owner', 'belongs-to'];
  for (const name of files) {
    writeFileSync(join(victims, name), 'precious', { mode: 0o600 });
    asAccount('ln -s "$1" "$2"', join(victims, name), join(folder, name));
  }
  writeFileSync(join(victims, 'folder', 'file'), 'precious');
  asAccount('ln -s "$1" "$2"', join(victims, 'folder'), join(folder, 'cluster.partial'));
  const postgres = embedded(folder);
  await postgres.start();
  await postgres.stop();
  for (const name of [...files, 'folder/file']) {
    const victim = join(victims, name);
    expect(readFileSync(victim, 'utf8'), name).toBe('precious');
    expect(statSync(victim).uid, name).toBe(0);
  }
  expect(statSync(join(victims, 'folder')).uid).toBe(0);
  // Nor can it plant any more: only the cluster is the account's.
  expect(() => asAccount('ln -s /etc/passwd "$1"', join(folder, 'postgres.log.1'))).toThrow();
  expect(statSync(join(folder, 'cluster')).uid).toBe(account?.uid);
  await postgres.start();
  await postgres.stop();
});

test('what is inside of a half made cluster is removed without following links', {
  tags: 'long',
}, async () => {
  const data = rootFolder();
  const folder = join(data, 'postgres');
  mkdirSync(join(folder, 'cluster.partial'), { recursive: true });
  give(join(folder, 'cluster.partial'));
  writeFileSync(join(data, 'precious'), 'precious');
  asAccount(
    'ln -s "$1" "$2/link"; mkdir "$2/.hidden"; : >"$2/.hidden/x"',
    data,
    join(folder, 'cluster.partial'),
  );
  const postgres = embedded(folder);
  await postgres.start();
  await postgres.stop();
  expect(readFileSync(join(data, 'precious'), 'utf8')).toBe('precious');
});

test('a data directory that the account may change, itself or on the way to it, is refused', async () => {
  const reason = 'may change';
  const own = rootFolder();
  give(own);
  await expect(embedded(join(own, 'postgres')).start()).rejects.toThrow(`${reason} ${own}: choose another`);
  const open = rootFolder();
  chmodSync(open, 0o777);
  await expect(embedded(join(open, 'a', 'postgres')).start()).rejects.toThrow(
    `${reason} ${open}: choose another`,
  );
  const target = rootFolder();
  mkdirSync(join(own, 'below'));
  const linked = join(target, 'linked');
  symlinkSync(join(own, 'below'), linked);
  await expect(embedded(join(linked, 'postgres')).start()).rejects.toThrow(`${reason} ${own}`);
});

test("the number in the cluster's postmaster.pid ends no process but the account's", {
  tags: 'long',
}, async () => {
  const folder = join(rootFolder(), 'postgres');
  const postgres = embedded(folder);
  await postgres.start();
  await postgres.stop();
  const cluster = join(folder, 'cluster');
  const bystander = spawn('sleep', ['600'], { argv0: cluster });
  const exited = new Promise((resolve) => bystander.once('exit', resolve));
  asAccount('echo "$1" >"$2/postmaster.pid"', String(bystander.pid), cluster);
  await postgres.start();
  expect(bystander.signalCode).toBe(null);
  await postgres.stop();
  bystander.kill('SIGTERM');
  await exited;
  expect(bystander.signalCode).toBe('SIGTERM');
});

/** What it was started on. */
function clusterOf(pid: number): string {
  const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  return args[args.indexOf('-D') + 1] ?? '';
}

test('a data directory that cannot be reached is kept in the shared folder, and reported once it is gone', {
  tags: 'long',
}, async () => {
  const closed = mkdtempSync(join(tmpdir(), 'pg-apiserver-closed-'));
  const folder = join(closed, 'data', 'postgres');
  const postgres = embedded(folder);
  await postgres.start();
  const shared = join(tmpdir(), 'shared');
  const lineOf = (): string | undefined => tidySharedRoot(shared).find((line) => line.includes(closed));
  expect(lineOf()).toBeUndefined();
  rmSync(closed, { recursive: true });
  expect(lineOf()).toBeUndefined();
  const { pid } = postgres;
  const kept = dirname(clusterOf(pid ?? 0));
  rmSync(join(kept, 'owner'));
  expect(lineOf()).toBe(
    `${kept} holds the PostgreSQL cluster of ${folder}, which is gone, and still runs (process ${pid}): remove it if it is not needed`,
  );
  await postgres.stop();
  expect(lineOf()).toContain(`holds the PostgreSQL cluster of ${folder}, which is gone: remove`);
  const messages: string[] = [];
  const next = embedded(join(rootFolder(), 'postgres'), messages);
  await next.start();
  await next.stop();
  expect(messages.join('\n')).toContain(closed);
});

test('copies of programs that have not been used for a day are removed, unless they run', async () => {
  const root = rootFolder();
  const make = (name: string, daysOld: number): string => {
    const copy = join(root, name);
    mkdirSync(copy);
    execFileSync('cp', ['/bin/sleep', join(copy, 'program')]);
    const at = new Date(Date.now() - daysOld * 25 * 60 * 60 * 1000);
    utimesSync(copy, at, at);
    return copy;
  };
  const [fresh, old, running] = [make('postgres-1', 0), make('postgres-2', 1), make('postgres-3', 1)];
  const program = spawn(join(running, 'program'), ['600']);
  const exited = new Promise((resolve) => program.once('exit', resolve));
  expect(tidySharedRoot(root)).toEqual([]);
  expect([fresh, old, running].map((copy) => existsSync(copy))).toEqual([true, false, true]);
  program.kill();
  await exited;
});
