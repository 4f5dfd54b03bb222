import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { EmbeddedPostgres } from '../../../src/cli/embedded/embedded-postgres.ts';

interface Folder extends Disposable {
  readonly path: string;
}

function temporaryFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'pg-apiserver-embedded-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

const embedded = (folder: string, messages: string[] = []): EmbeddedPostgres =>
  new EmbeddedPostgres({ folder, port: 0, settings: ['fsync=off'], onProgress: (m) => messages.push(m) });

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(text);
  await client.end();
  return rows;
}

test('data survives a restart, and a cluster that was only half made is made again', async () => {
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

test('a PostgreSQL whose server was killed is stopped by the next start; one whose server lives is left alone', async () => {
  using folder = temporaryFolder();
  const first = embedded(folder.path);
  await first.start();
  const owner = join(folder.path, 'owner');
  const other = spawn('sleep', ['60']);
  // Without a start time, as on systems that do not tell one, this is not the process that has the id now.
  writeFileSync(owner, `${other.pid} 1`);
  const messages: string[] = [];
  const second = embedded(folder.path, messages);
  await second.start();
  expect(messages.join()).toContain('stopping the PostgreSQL that an earlier run left behind');
  expect(await query(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);

  const { readFileSync } = await import('node:fs');
  const stat = readFileSync(`/proc/${other.pid}/stat`, 'utf8');
  writeFileSync(owner, `${other.pid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`);
  await expect(embedded(folder.path).start()).rejects.toThrow(
    `in use by another pg-apiserver (process ${other.pid})`,
  );
  expect(await query(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  other.kill();
  await second.stop();
});
