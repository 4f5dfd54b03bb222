import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchPostgres, POSTGRES_VERSIONS } from './kit/postgres-version.ts';

/**
 * `npm run test:versions [-- 22/14 24/18]`: real clients on each Node.js and PostgreSQL that are supported.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const NODES: Readonly<Record<string, string>> = { '22.15': '22.15.0', '22': '22.23.3', '24': '24.21.0' };

const CLIENTS = ['kubectl', 'kubectl-33', 'helm', 'javascript-client', 'python'];
const ARGUMENTS = [
  ...['run', '--config', 'test/vitest.config.ts', '--project', 'systems'],
  ...CLIENTS.map((name) => `test/e2e/${name}.test.ts`),
];

const all = Object.keys(NODES).flatMap((node) =>
  Object.keys(POSTGRES_VERSIONS).map((postgres) => `${node}/${postgres}`),
);
const asked = process.argv.slice(2);
const unknown = asked.filter((pair) => !all.includes(pair));
if (unknown.length > 0) throw new Error(`${unknown.join(', ')}: not one of ${all.join(', ')}`);

/** The program, out of npm's package; brought once. */
function fetchNode(version: string): string {
  const folder = join(root, 'node_modules/.cache/pg-apiserver/node', version);
  const program = join(folder, 'node_modules/node/bin/node');
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  const manifest = { private: true, dependencies: { node: version }, allowScripts: { node: true } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const args = ['install', '--no-audit', '--no-fund', '--no-save', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd: folder, stdio: 'inherit' });
  if (status !== 0) throw new Error(`npm could not bring Node.js ${version}`);
  return program;
}

const lines: string[] = [];
for (const pair of asked.length > 0 ? asked : all) {
  const [node = '', postgres = ''] = pair.split('/');
  const env = {
    ...process.env,
    TEST_NODE: fetchNode(NODES[node] ?? ''),
    TEST_POSTGRES: fetchPostgres(postgres),
  };
  const { status } = spawnSync('npx', ['vitest', ...ARGUMENTS], { cwd: root, env, stdio: 'inherit' });
  lines.push(
    `| ${NODES[node]} | ${POSTGRES_VERSIONS[postgres]?.split('.0-')[0]} | ${status === 0 ? 'passed' : 'failed'} |`,
  );
}
console.log(lines.join('\n'));
process.exitCode = lines.some((line) => line.includes('failed')) ? 1 : 0;
