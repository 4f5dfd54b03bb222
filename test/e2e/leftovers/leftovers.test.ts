// @module-tag long
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { onLeash } from '../../kit/leash.ts';

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url));
const VITEST = join(PROJECT, 'node_modules', 'vitest', 'vitest.mjs');
const CONFIG = fileURLToPath(new URL('vitest.config.ts', import.meta.url));

/** All that a process has started, as long as it lives; what outlives it is known by the mark in its environment. */
function marked(mark: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const isOurs = /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark);
      const command = isOurs ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') : '';
      return command === '' ? [] : [`${pid} ${command}`];
    } catch {
      return [];
    }
  });
}

interface Run {
  readonly child: ChildProcess;
  /** Of the folder that it makes all of its files in. */
  readonly parent: string;
  readonly mark: string;
  readonly ended: Promise<unknown>;
}

/** A run of its own, of a test that starts a server and then waits for ever. Resolves when it waits. */
async function startRun(): Promise<Run> {
  const parent = mkdtempSync(join(tmpdir(), 'pg-apiserver-leftovers-'));
  chmodSync(parent, 0o755);
  const mark = `PG_APISERVER_TEST_MARK=${parent}`;
  const [name = '', value = ''] = mark.split('=');
  const child = onLeash(
    spawn(process.execPath, [VITEST, 'run', '--config', CONFIG], {
      cwd: PROJECT,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: parent, [name]: value },
      stdio: ['ignore', 'pipe', 'pipe'],
      // Ctrl-C in a terminal reaches the whole group; so does what is sent to it here.
      detached: true,
    }),
  );
  const ended = new Promise((resolve) => child.once('exit', resolve));
  let output = '';
  await new Promise<void>((resolve, reject) => {
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
      if (output.includes('WAITING')) resolve();
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    void ended.then(() => reject(new Error(`the run ended:\n${output}`)));
  });
  return { child, parent, mark, ended };
}

const SERVER = /main\.js --data-dir/;
const POSTGRES = /postgres -D/;

/** Resolves when neither a process nor a file is left; the test's time is the limit. */
async function nothingIsLeft({ mark, parent }: Run): Promise<void> {
  while (marked(mark).length + readdirSync(parent).length > 0)
    await new Promise((resolve) => setTimeout(resolve, 50));
}

const onLinux = test.runIf(process.platform === 'linux');

onLinux(
  'a run that is interrupted by ctrl-C leaves nothing running, and no files',
  async () => {
    const run = await startRun();
    expect(marked(run.mark).join('\n')).toMatch(SERVER);
    process.kill(-(run.child.pid ?? 0), 'SIGINT');
    await run.ended;
    await nothingIsLeft(run);
    rmSync(run.parent, { recursive: true });
  },
  120_000,
);

onLinux(
  'a run that is killed leaves nothing running, and no files',
  async () => {
    const run = await startRun();
    const before = marked(run.mark).join('\n');
    expect(before).toMatch(SERVER);
    expect(before).toMatch(POSTGRES);
    run.child.kill('SIGKILL');
    await run.ended;
    await nothingIsLeft(run);
    rmSync(run.parent, { recursive: true });
  },
  120_000,
);
