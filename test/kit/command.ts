import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onLeash } from './leash.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs, and its end. */
export interface RunningCommand {
  readonly child: ChildProcess;
  /** All that it has written so far. */
  readonly output: { stdout: string; stderr: string };
  readonly ended: Promise<Ended>;
}

export function startCommand(...args: string[]): RunningCommand {
  const child = onLeash(spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] }));
  const output = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk: Buffer) => {
    output.stdout += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    output.stderr += chunk.toString();
  });
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, ...output })));
  return { child, output, ended };
}

/** Runs a command of pg-apiserver as a user does. */
export const runCommand = (...args: string[]): Promise<Ended> => startCommand(...args).ended;
