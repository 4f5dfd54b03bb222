import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, chownSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { postgresAccount } from '../../src/cli/embedded/account.ts';
import { freePort } from '../../src/cli/embedded/embedded-postgres.ts';
import { eventually } from './connections.ts';
import { onLeash } from './leash.ts';

/** Where Debian has it, whether or not the path of a user leads there. */
const SYSTEM_FOLDER = '/usr/sbin';

/** Undefined: this machine has none. */
export function findPgBouncer(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), SYSTEM_FOLDER];
  return folders.map((folder) => join(folder, 'pgbouncer')).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface PgBouncer extends AsyncDisposable {
  /** The database's URL, by way of it. */
  readonly url: string;
  start(): Promise<void>;
  /** Ends it and all its connections at once. */
  kill(): Promise<void>;
}

/** In transaction mode, with few connections, so that every transaction may be in another session than the one before. */
export async function startPgBouncer(binary: string, databaseUrl: string): Promise<PgBouncer> {
  const { hostname, port: databasePort, username, password } = new URL(databaseUrl);
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-pgbouncer-'));
  const account = postgresAccount();
  const port = await freePort();
  const settings = join(folder, 'pgbouncer.ini');
  const users = join(folder, 'users.txt');
  writeFileSync(users, `"${username}" "${decodeURIComponent(password)}"\n`);
  writeFileSync(
    settings,
    `[databases]
* = host=${hostname} port=${databasePort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
default_pool_size = 8
max_client_conn = 400
server_round_robin = 1
`,
  );
  for (const path of [folder, settings, users])
    if (account !== undefined) chownSync(path, account.uid, account.gid);
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  let end = async (): Promise<void> => {};
  const start = async (): Promise<void> => {
    const child = onLeash(spawn(binary, ['-q', settings], { ...account, stdio: 'ignore' }));
    const ended = new Promise((resolve) => child.once('exit', resolve));
    end = async () => {
      child.kill('SIGKILL');
      await ended;
    };
    await eventually(async () => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.destroy();
    }, 10_000);
  };
  await start();
  return {
    url: url.href,
    start,
    kill: () => end(),
    [Symbol.asyncDispose]: async () => {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
