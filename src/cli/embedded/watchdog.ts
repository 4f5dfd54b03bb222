import { spawn } from 'node:child_process';
import type { Account } from './account.ts';

/**
 * Stops PostgreSQL when this process ends without doing so: a shell waits for the end of a pipe that the system closes with
 * this process. It stops only the process that the cluster names.
 */
interface Watchdog {
  /** Stops watching. */
  close(): void;
}

const SCRIPT = `
  read -r _
  read -r running <"$2/postmaster.pid" && [ "$running" = "$1" ] && kill -INT "$1"`;

export function watchPostgres(pid: number, cluster: string, account: Account | undefined): Watchdog {
  // Without a shell, the next start stops a leftover PostgreSQL.
  if (process.platform === 'win32') return { close: () => {} };
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'pg-apiserver-watchdog', String(pid), cluster], {
    ...account,
    cwd: '/',
    // Ignores ctrl-C, as PostgreSQL does.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without a watchdog, the next start finds PostgreSQL.
  child.on('error', () => {});
  child.stdin.on('error', () => {});
  child.unref();
  if ('unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref();
  return { close: () => void child.kill('SIGKILL') };
}
