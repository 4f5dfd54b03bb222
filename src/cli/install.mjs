// What `npm start` and `npm test` begin with: packages are installed when they are missing or other ones are wanted. Plain
// JavaScript of Node.js 20, because it runs before anything is installed or built; what it starts runs on the Node.js that the
// packages bring.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startClock } from './clock.mjs';

export const root = fileURLToPath(new URL('../..', import.meta.url));
const modules = join(root, 'node_modules');
const bin = join(modules, '.bin');
const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ''}` };

/** 0: it is not there. */
export const modified = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);

export async function installPackages() {
  const installed = modified(join(modules, '.package-lock.json'));
  if (installed >= modified(join(root, 'package-lock.json'))) return;
  // npm would empty the folder behind a link, which is another checkout's.
  if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  await runSilently('installing packages (once)', 'npm', [
    ...['ci', '--no-audit', '--no-fund', '--loglevel=error'],
  ]);
}

/** Shows the errors of the command alone. Ends this process where the command fails. */
export async function runSilently(what, command, args) {
  const endLine = startClock(what);
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr.on('data', (said) => {
    endLine();
    process.stderr.write(said);
  });
  const [code] = await once(child, 'close');
  endLine();
  if (code !== 0) process.exit(code ?? 1);
}

export const tell = (what) => process.stdout.write(`        ${what}\n`);

/** Ends this process where the command fails. */
export function run(command, args) {
  const result = spawnSync(command, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

/** Becomes the command, of those that packages bring, as far as signals and the exit code go. Answers its process. */
export function handOver(command, args) {
  const child = spawn(join(bin, command), args, { env, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    // Ctrl-C reaches the child by itself; passing it on would count as a second one.
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.once('exit', (code, signal) => process.exit(code ?? (signal === null ? 0 : 1)));
  child.once('error', (error) => {
    process.stderr.write(`cannot start ${command}: ${error.message}\n`);
    process.exit(1);
  });
  return child;
}
