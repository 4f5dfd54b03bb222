// `npm start`: installs what is missing, builds what has changed, and hands over to the server.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { handOver, installPackages, modified, root, runSilently } from './install.mjs';

// Arguments may hold a password, which is not for the list of processes.
process.title = 'pg-apiserver start';

function newest(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce(
      (latest, entry) => Math.max(latest, modified(join(entry.parentPath ?? entry.path, entry.name))),
      0,
    );
}

await installPackages();
if (modified(join(root, 'dist', 'pg-apiserver.js')) < newest(join(root, 'src'))) {
  await runSilently('building', 'npm', ['run', '--silent', 'build']);
}

const server = handOver('node', [join(root, 'dist', 'main.js'), 'start', ...process.argv.slice(2)]);

// The server's parent is this process, and ours the one that typed `npm start`.
if (process.argv.some((argument) => /^--?exit-with-parent(=(true|t|1))?$/i.test(argument))) {
  const parent = process.ppid;
  const looking = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(looking);
    server.kill('SIGTERM');
  }, 200);
}
