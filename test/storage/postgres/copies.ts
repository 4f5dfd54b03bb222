import { execFile } from 'node:child_process';
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, vi } from 'vitest';
import { type PrivatePostgres, startPrivatePostgres } from '../../postgres.ts';
import { connect } from './stalls.ts';

const run = promisify(execFile);
const PATIENCE = { timeout: 60_000, interval: 20 };

/** The files of a PostgreSQL that is stopped, to be put back later: a restore to a point in time. */
export async function takeBackup({ folder }: PrivatePostgres): Promise<{ putBack(): Promise<void> }> {
  const cluster = join(folder, 'cluster');
  const backup = join(folder, 'backup');
  await run('cp', ['-a', cluster, backup]);
  return {
    putBack: async () => {
      await run('rm', ['-rf', cluster]);
      await run('cp', ['-a', backup, cluster]);
    },
  };
}

export interface Standby extends PrivatePostgres {
  /** From now on it receives nothing: what is committed is lost to it. */
  cutOff(): Promise<void>;
  promote(): Promise<void>;
}

/** A replica of a PostgreSQL that runs, streaming from it. */
export async function startStandby(primary: PrivatePostgres): Promise<Standby> {
  const { hostname, port, username, password } = new URL(primary.url);
  const copyFiles = async (folder: string): Promise<void> => {
    await using session = await connect(primary.url);
    const [version] = await session.query<{ number: string }>(
      "SELECT current_setting('server_version_num') AS number",
    );
    // What version 15 calls differently.
    const [begin, end] =
      Number(version?.number) < 150_000
        ? ["pg_start_backup('standby', true, false)", 'pg_stop_backup(false)']
        : ["pg_backup_start('standby', true)", 'pg_backup_stop()'];
    await session.query(`SELECT ${begin}`);
    await run('cp', ['-a', join(primary.folder, 'cluster'), join(folder, 'cluster')]);
    const [stopped] = await session.query<{ labelfile: string }>(`SELECT labelfile FROM ${end}`);
    await run('cp', ['-a', join(primary.folder, 'password'), join(folder, 'password')]);
    const cluster = join(folder, 'cluster');
    await run('rm', ['-f', join(cluster, 'postmaster.pid')]);
    await writeFile(join(cluster, 'backup_label'), stopped?.labelfile ?? '');
    await writeFile(join(cluster, 'standby.signal'), '');
    const source = `host=${hostname} port=${port} user=${username} password=${password}`;
    await appendFile(join(cluster, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
    await run('chown', ['-R', `--reference=${cluster}`, cluster]);
  };
  const postgres = await startPrivatePostgres({ prepare: copyFiles });
  return {
    ...postgres,
    cutOff: async () => {
      await using session = await connect(postgres.url);
      await session.query("ALTER SYSTEM SET primary_conninfo = ''");
      await session.query('SELECT pg_reload_conf()');
      const receiving = 'SELECT FROM pg_stat_wal_receiver';
      await vi.waitFor(async () => expect(await session.query(receiving)).toHaveLength(0), PATIENCE);
    },
    promote: async () => {
      await using session = await connect(postgres.url);
      await session.query('SELECT pg_promote()');
    },
  };
}
