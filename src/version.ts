import { existsSync, readFileSync } from 'node:fs';
import { PROJECT } from './project.ts';

/** The version of this program. package.json is beside dist/ wherever the program runs. */
const { version }: { version: string } = JSON.parse(readFileSync(new URL('package.json', PROJECT), 'utf8'));

/** The minor version of Kubernetes that is emulated without --emulated-version. */
export const DEFAULT_MINOR = 31;

/** The version of the API, as a server that emulates this version of Kubernetes reports it. */
const versionOf = (minor: number) => ({
  major: '1',
  minor: String(minor),
  gitVersion: `v1.${minor}.0+pg-apiserver.${version}`,
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
});

/** What a server tells about its version and its build (Kubernetes: version.Info). */
export type VersionInfo = Readonly<
  Record<
    | 'major'
    | 'minor'
    | 'gitVersion'
    | 'gitCommit'
    | 'gitTreeState'
    | 'buildDate'
    | 'goVersion'
    | 'compiler'
    | 'platform',
    string
  >
> & {
  /** What it emulates and is compatible with; since 1.33. */
  readonly emulationMajor?: string;
  readonly emulationMinor?: string;
  readonly minCompatibilityMajor?: string;
  readonly minCompatibilityMinor?: string;
};

export function versionInfoOf(minor: number, compatible: number = minor - 1): VersionInfo {
  const { major, minor: own, gitVersion, platform } = versionOf(minor);
  const { commit, date } = readBuild();
  return {
    ...{ major, minor: own },
    ...(minor < 33
      ? {}
      : {
          ...{ emulationMajor: major, emulationMinor: own },
          ...{ minCompatibilityMajor: major, minCompatibilityMinor: String(compatible) },
        }),
    ...{ gitVersion, gitCommit: commit.replace(DIRTY, '') },
    gitTreeState: commit.endsWith(DIRTY) ? 'dirty' : 'clean',
    ...{ buildDate: date, goVersion: `node${process.versions.node}`, compiler: 'v8', platform },
  };
}

/** Without --emulated-version. */
export const VERSION = versionOf(DEFAULT_MINOR);

const DIRTY = '-dirty';

/** What a build notes of itself (cli/commit.mjs). */
interface Build {
  /** With `-dirty` behind it when files were changed since. Empty: the build was made without git. */
  readonly commit: string;
  /** In RFC 3339. */
  readonly date: string;
}

export function readBuild(): Build {
  const file = new URL('dist/commit.txt', PROJECT);
  const [commit = '', date = ''] = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  return { commit, date };
}

/** `pg-apiserver 0.2.0 (commit 5b3170b51a90, Kubernetes 1.31)` */
export function describeVersion(commit: string = readBuild().commit): string {
  const origin = commit === '' ? 'built without git' : `commit ${commit}`;
  return `pg-apiserver ${version} (${origin}, Kubernetes 1.${DEFAULT_MINOR})`;
}
