// `npm start`: installs what is missing, builds what has changed, and hands over to the server.
// Plain JavaScript, because it runs before anything is built, on whatever Node.js the machine has.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const modules = join(root, 'node_modules');
const bin = join(modules, '.bin');
const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ''}` };

const modified = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);

function newest(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce(
      (latest, entry) => Math.max(latest, modified(join(entry.parentPath ?? entry.path, entry.name))),
      0,
    );
}

function run(command, args, what) {
  process.stdout.write(`        ${what}\n`);
  const result = spawnSync(command, args, { cwd: root, env, stdio: ['ignore', 'ignore', 'inherit'] });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

const installed = modified(join(modules, '.package-lock.json'));
if (installed < modified(join(root, 'package-lock.json'))) {
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], 'installing packages (once)');
}
if (modified(join(root, 'dist', 'pg-apiserver.js')) < newest(join(root, 'src'))) {
  run('npm', ['run', '--silent', 'build'], 'building');
}

const given = process.argv.slice(2);
// Built just now: nothing of it could be imported before.
const { usualFlags } = await import('../../dist/cli/usual-flags.js');
const server = spawn(join(bin, 'node'), [join(root, 'dist', 'main.js'), ...given, ...usualFlags(given)], {
  env,
  stdio: 'inherit',
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  // Ctrl-C reaches the server by itself; passing it on would count as a second one.
  process.on(signal, () => {
    if (signal !== 'SIGINT' || !process.stdin.isTTY) server.kill(signal);
  });
}
server.once('exit', (code, signal) => process.exit(code ?? (signal === null ? 0 : 1)));
server.once('error', (error) => {
  process.stderr.write(`cannot start the server: ${error.message}\n`);
  process.exit(1);
});
