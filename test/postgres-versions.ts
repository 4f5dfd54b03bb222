import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { fetchPostgres, POSTGRES_VERSIONS } from './kit/postgres-version.ts';

/** `npm run test:postgres-versions [-- 15 16]`: the tests of storage on every PostgreSQL that is supported. */
const root = fileURLToPath(new URL('..', import.meta.url));

const asked = process.argv.slice(2);
const unknown = asked.filter((version) => !(version in POSTGRES_VERSIONS));
if (unknown.length > 0)
  throw new Error(
    `PostgreSQL ${unknown.join(', ')} is not one of ${Object.keys(POSTGRES_VERSIONS).join(', ')}`,
  );

// Projects are for `npm test`, where two versions share a run.
const ARGUMENTS = [
  'run',
  '--config',
  'test/vitest.config.ts',
  ...['--project', 'systems'],
  'test/storage/postgres',
];

const failed: string[] = [];
for (const version of asked.length > 0 ? asked : Object.keys(POSTGRES_VERSIONS)) {
  console.log(`PostgreSQL ${version}`);
  const env = { ...process.env, TEST_POSTGRES: fetchPostgres(version) };
  const { status } = spawnSync('npx', ['vitest', ...ARGUMENTS], { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) failed.push(version);
}
console.log(failed.length === 0 ? 'every version passed' : `failed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
