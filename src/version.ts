import { existsSync, readFileSync } from 'node:fs';
import { PROJECT } from './project.ts';

/** The version of this program. package.json is beside dist/ wherever the program runs. */
const { version }: { version: string } = JSON.parse(readFileSync(new URL('package.json', PROJECT), 'utf8'));

/** The minor version of Kubernetes that is emulated without --emulated-version. */
export const DEFAULT_MINOR = 31;

/** The version of the API, as a server that emulates this version of Kubernetes reports it. */
export const versionOf = (minor: number) => ({
  major: '1',
  minor: String(minor),
  gitVersion: `v1.${minor}.0+pg-apiserver.${version}`,
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
});

/** What a server tells about its version, with what it emulates and with which versions it is compatible since 1.33. */
export function versionInfoOf(
  minor: number,
  compatible: number = minor - 1,
): ReturnType<typeof versionOf> & Readonly<Record<string, string>> {
  const { major, minor: own, ...rest } = versionOf(minor);
  if (minor < 33) return { major, minor: own, ...rest };
  return {
    ...{ major, minor: own, emulationMajor: major, emulationMinor: own },
    ...{ minCompatibilityMajor: major, minCompatibilityMinor: String(compatible) },
    ...rest,
  };
}

/** Without --emulated-version. */
export const VERSION = versionOf(DEFAULT_MINOR);

/**
 * The commit that the build was made from (cli/commit.mjs), with `-dirty` behind it when files were changed since. Empty: the
 * build was made without git.
 */
export function readCommit(): string {
  const file = new URL('dist/commit.txt', PROJECT);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
}

/** `pg-apiserver 0.2.0 (commit 5b3170b51a90, Kubernetes 1.31)` */
export function describeVersion(commit: string = readCommit()): string {
  const origin = commit === '' ? 'built without git' : `commit ${commit}`;
  return `pg-apiserver ${version} (${origin}, Kubernetes 1.${DEFAULT_MINOR})`;
}
