import { spawn } from 'node:child_process';
import type { Account } from './account.ts';

/**
 * Stops PostgreSQL when this process ends without having done so, however it ends: a shell waits for the end of a pipe whose other
 * end we hold, and the system closes. It does nothing to a process that is not the one that the cluster names.
 */
export interface Watchdog {
  /** Its work is done. */
  close(): void;
}

const SCRIPT = `
  read -r _
  read -r running <"$2/postmaster.pid" && [ "$running" = "$1" ] && kill -INT "$1"`;

export function watchPostgres(pid: number, cluster: string, account: Account | undefined): Watchdog {
  // No shell there; the next start finds what was left behind.
  if (process.platform === 'win32') return { close: () => {} };
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'pg-apiserver-watchdog', String(pid), cluster], {
    ...account,
    cwd: '/',
    // Out of reach of ctrl-C, as PostgreSQL is.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without one, PostgreSQL is found by the next start.
  child.on('error', () => {});
  child.stdin.on('error', () => {});
  child.unref();
  if ('unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref();
  return { close: () => void child.kill('SIGKILL') };
}
