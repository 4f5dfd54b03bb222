import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { expect, test } from 'vitest';
import { EmbeddedPostgres } from '../../../src/cli/embedded/embedded-postgres.ts';
import { sharedRootOf } from '../../kit/run-folder.ts';

interface Folder extends Disposable {
  readonly path: string;
}

/** `mode`: whether the account that PostgreSQL runs under when we are root may pass. */
function temporaryFolder(mode = 0o755): Folder {
  const path = mkdtempSync(join(tmpdir(), 'pg-apiserver-embedded-'));
  chmodSync(path, mode);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

const embedded = (
  folder: string,
  messages: string[] = [],
  sharedRoot: string = sharedRootOf(tmpdir()),
): EmbeddedPostgres =>
  new EmbeddedPostgres({
    folder,
    port: 0,
    settings: ['fsync=off'],
    onProgress: (message) => messages.push(message),
    sharedRoot,
  });

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(text);
  await client.end();
  return rows;
}

test('data survives a restart, and a cluster that was only half made is made again', {
  tags: 'long',
}, async () => {
  using folder = temporaryFolder();
  mkdirSync(join(folder.path, 'cluster.partial'));
  writeFileSync(join(folder.path, 'cluster.partial', 'PG_VERSION'), '1');
  const first = embedded(folder.path);
  await first.start();
  await query(first.url, 'CREATE TABLE t AS SELECT 1 AS one');
  await first.stop();
  const second = embedded(folder.path);
  await second.start();
  expect(await query(second.url, 'SELECT one FROM t')).toEqual([{ one: 1 }]);
  await second.stop();
});

const HOLDER = fileURLToPath(new URL('holder-process.ts', import.meta.url));

/** A process of its own that holds a PostgreSQL, until it is killed. */
async function startHolder(folder: string): Promise<{ child: ChildProcess; pid: number; watchdog: number }> {
  const child = spawn(process.execPath, [HOLDER, folder, sharedRootOf(tmpdir())], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString()));
    child.once('exit', () => reject(new Error('the holder ended')));
  });
  const pid = Number(line);
  return { child, pid, watchdog: watchdogOf(pid) };
}

function watchdogOf(pid: number): number {
  const found = readdirSync('/proc').find((name) => {
    const args = /^\d+$/.test(name) ? argumentsOf(Number(name)) : [];
    return args.includes('pg-apiserver-watchdog') && args.includes(String(pid));
  });
  return Number(found);
}

function argumentsOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** Resolves when nothing of the id runs any more; the test's time is the limit. */
async function ended(pid: number): Promise<void> {
  while (argumentsOf(pid).join('') !== '') await new Promise((resolve) => setTimeout(resolve, 10));
}

test.runIf(process.platform === 'linux')(
  'a process that is killed takes its PostgreSQL along',
  { tags: 'long' },
  async () => {
    using folder = temporaryFolder();
    const { child, pid, watchdog } = await startHolder(folder.path);
    expect(argumentsOf(pid)).toContain(join(folder.path, 'cluster'));
    child.kill('SIGKILL');
    await ended(pid);
    await ended(watchdog);
    // It was shut down, not cut off: nothing is left to recover, and no mark of it.
    expect(existsSync(join(folder.path, 'cluster', 'postmaster.pid'))).toBe(false);
  },
);

test.runIf(process.platform === 'linux')(
  'a PostgreSQL that is left behind all the same is stopped by the next start',
  { tags: 'long' },
  async () => {
    using folder = temporaryFolder();
    const { child, pid, watchdog } = await startHolder(folder.path);
    process.kill(watchdog, 'SIGKILL');
    await ended(watchdog);
    const killed = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await killed;
    expect(argumentsOf(pid)).toContain(join(folder.path, 'cluster'));
    const messages: string[] = [];
    const next = embedded(folder.path, messages);
    await next.start();
    expect(messages.join()).toContain(
      `stopping the PostgreSQL that an earlier run left behind (process ${pid})`,
    );
    expect(await query(next.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await next.stop();
  },
);

test('a PostgreSQL that is stopped or dies leaves no watchdog', { tags: 'long' }, async () => {
  using folder = temporaryFolder();
  const postgres = embedded(folder.path);
  for (const end of [() => postgres.stop(), () => postgres.kill()]) {
    await postgres.start();
    const watchdog = watchdogOf(postgres.pid ?? 0);
    expect(watchdog).toBeGreaterThan(0);
    await end();
    await ended(watchdog);
  }
  await postgres.stop();
});

test('a folder whose owner lives is left alone; one whose owner is gone is taken over', {
  tags: 'long',
}, async () => {
  using folder = temporaryFolder();
  const first = embedded(folder.path);
  await first.start();
  const owner = join(folder.path, 'owner');
  const other = spawn('sleep', ['60']);
  const stat = readFileSync(`/proc/${other.pid}/stat`, 'utf8');
  const startTime = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  writeFileSync(owner, `${other.pid} ${startTime}`);
  await expect(embedded(folder.path).start()).rejects.toThrow(
    `in use by another pg-apiserver (process ${other.pid})`,
  );
  expect(await query(first.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  other.kill();
  // The id alone is not the process: this one has begun at another time.
  writeFileSync(owner, `${process.ppid} 1`);
  const second = embedded(folder.path);
  await second.start();
  expect(await query(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await second.stop();
});

test('a PostgreSQL that is killed starts again, on its port and with its data, until it is stopped', async () => {
  using folder = temporaryFolder();
  const { promise: isBack, resolve } = Promise.withResolvers<void>();
  const messages: string[] = [];
  const postgres = new EmbeddedPostgres({
    folder: folder.path,
    port: 0,
    settings: ['fsync=off'],
    onProgress: (message) => {
      messages.push(message);
      if (message.endsWith('running again')) resolve();
    },
    sharedRoot: sharedRootOf(tmpdir()),
  });
  await postgres.start();
  postgres.keepRunning();
  await query(postgres.url, 'CREATE TABLE t AS SELECT 1 AS one');
  const killed = Number(postgres.pid);
  process.kill(killed, 'SIGKILL');
  await isBack;
  expect(messages).toContain('PostgreSQL ended (SIGKILL): starts again');
  expect(postgres.pid).not.toBe(killed);
  expect(await query(postgres.url, 'SELECT one FROM t')).toEqual([{ one: 1 }]);
  const last = Number(postgres.pid);
  await postgres.stop();
  await ended(last);
  expect(messages.at(-1)).toBe('PostgreSQL is running again');
});
