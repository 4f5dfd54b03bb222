import { execFile } from 'node:child_process';
import { lstatSync, rmdirSync, rmSync, statSync } from 'node:fs';
import type { Account } from './account.ts';

/** What a program of PostgreSQL says last is often that it cleans up. */
const CAUSE = /\b(error|fatal|panic): /i;

/** @throws Error with the first line of its output that names an error, or else the last one */
export function run(command: string, args: readonly string[], account: Account | undefined): Promise<void> {
  return new Promise((done, reject) => {
    const options = { ...account, cwd: '/', env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' } };
    execFile(command, [...args], options, (error, _stdout, stderr) => {
      if (error === null) done();
      else {
        const lines = stderr.trim().split('\n');
        const said = lines.find((line) => CAUSE.test(line)) ?? lines.at(-1) ?? error.message;
        reject(new Error(`${command} failed: ${said}`));
      }
    });
  });
}

/**
 * Removes a folder in which the account may place links at any time. Removes the content as the account, which cannot harm
 * others, and the folder itself as us.
 */
export async function removeFolder(folder: string, account: Account | undefined): Promise<void> {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isDirectory() || account === undefined || stat.uid !== account.uid) {
    rmSync(folder, { recursive: true, force: true });
    return;
  }
  // Fails at the folder itself, which the account cannot remove.
  await run('rm', ['-rf', '--', folder], account).catch(() => {});
  rmdirSync(folder);
}

/**
 * Interrupts a process of the account. The account may change the file with the number, so the system checks that the process
 * belongs to it.
 */
export async function interrupt(pid: number, account: Account | undefined): Promise<void> {
  if (account === undefined) process.kill(pid, 'SIGINT');
  else await run('sh', ['-c', 'kill -INT "$0"', String(pid)], account);
}

/** Whether the process belongs to the account, or without one to us. */
export function belongsTo(pid: number, account: Account | undefined): boolean {
  try {
    return statSync(`/proc/${pid}`).uid === (account?.uid ?? process.geteuid?.());
  } catch {
    return false;
  }
}
