import type { Environment } from '@marcbachmann/cel-js';
import { isOlder, parseSemanticVersion, type SemanticVersion } from '../../object/semantic-version.ts';
import { succeeds } from './succeeds.ts';

class CelVersion {
  readonly version: SemanticVersion;

  constructor(version: SemanticVersion) {
    this.version = version;
  }

  /** Build metadata does not count. */
  equals(other: unknown): boolean {
    return other instanceof CelVersion && compare(this, other) === 0n;
  }

  number(at: number): bigint {
    return this.version.numbers[at] ?? 0n;
  }
}

const TYPE = 'kubernetes.Semver';

function compare(a: CelVersion, b: CelVersion): bigint {
  if (isOlder(a.version, b.version)) return -1n;
  return isOlder(b.version, a.version) ? 1n : 0n;
}

/** Semantic versions (Kubernetes: cel/library, semverlib, version 1). */
export const registerVersions = (environment: Environment): Environment =>
  environment
    .registerType(TYPE, CelVersion)
    .registerOperator(`${TYPE} == ${TYPE}`, (a: CelVersion, b: CelVersion) => a.equals(b))
    .registerFunction(`semver(string): ${TYPE}`, (text: string) => parse(text))
    .registerFunction(`semver(string, bool): ${TYPE}`, readVersion)
    .registerFunction('isSemver(string): bool', (text: string) => succeeds(() => parse(text)))
    .registerFunction('isSemver(string, bool): bool', (text: string, normalizes: boolean) =>
      succeeds(() => readVersion(text, normalizes)),
    )
    .registerFunction(`${TYPE}.isGreaterThan(${TYPE}): bool`, (a: CelVersion, b: CelVersion) =>
      isOlder(b.version, a.version),
    )
    .registerFunction(`${TYPE}.isLessThan(${TYPE}): bool`, (a: CelVersion, b: CelVersion) =>
      isOlder(a.version, b.version),
    )
    .registerFunction(`${TYPE}.compareTo(${TYPE}): int`, compare)
    .registerFunction(`${TYPE}.major(): int`, (version: CelVersion) => version.number(0))
    .registerFunction(`${TYPE}.minor(): int`, (version: CelVersion) => version.number(1))
    .registerFunction(`${TYPE}.patch(): int`, (version: CelVersion) => version.number(2));

const readVersion = (text: string, normalizes: boolean): CelVersion =>
  parse(normalizes ? normalized(text) : text);

const MAX_NUMBER = 2n ** 64n - 1n;

/** @throws Error in the words of Go's library (blang/semver) */
function parse(text: string): CelVersion {
  const version = parseSemanticVersion(text);
  if (version === undefined) throw new Error(problemOf(text));
  const large = version.numbers.find((number) => number > MAX_NUMBER);
  if (large !== undefined) throw new Error(`strconv.ParseUint: parsing "${large}": value out of range`);
  return new CelVersion(version);
}

function problemOf(text: string): string {
  if (text === '') return 'Version string empty';
  const [major = '', minor, ...rest] = text.split('.');
  if (minor === undefined || rest.length === 0) return 'No Major.Minor.Patch elements found';
  const [, patch = '', prerelease, build] = PARTS.exec(rest.join('.')) ?? [];
  return (
    numberProblem('Major', major) ??
    numberProblem('Minor', minor) ??
    numberProblem('Patch', patch) ??
    partsProblem(prerelease, 'prerelease', 'Prerelease') ??
    partsProblem(build, 'build meta data', 'Build meta data') ??
    'Invalid version'
  );
}

/** `3-beta.1+build` */
const PARTS = /^([^+-]*)(?:-([^+]*))?(?:\+(.*))?$/s;

function numberProblem(what: string, text: string): string | undefined {
  if (!/^\d+$/.test(text))
    return `Invalid character(s) found in ${what.toLowerCase()} number ${JSON.stringify(text)}`;
  if (text.length > 1 && text.startsWith('0'))
    return `${what} number must not contain leading zeroes ${JSON.stringify(text)}`;
  return undefined;
}

function partsProblem(text: string | undefined, what: string, title: string): string | undefined {
  for (const part of text?.split('.') ?? []) {
    if (part === '') return `${title} is empty`;
    if (what === 'prerelease' && /^0\d+$/.test(part))
      return `Numeric PreRelease version must not contain leading zeroes ${JSON.stringify(part)}`;
    if (!/^[0-9A-Za-z-]+$/.test(part)) return `Invalid character(s) found in ${what} ${JSON.stringify(part)}`;
  }
  return undefined;
}

/** `v01.1` → `1.1.0` @throws Error for a short version with more than numbers */
function normalized(text: string): string {
  const [major = '', minor, ...rest] = text.replace(/^v/, '').split('.');
  const parts = [
    major,
    ...(minor === undefined ? [] : [minor]),
    ...(rest.length === 0 ? [] : [rest.join('.')]),
  ];
  const plain = parts.map(withoutZeros);
  if (plain.length < 3 && /[+-]/.test(plain.at(-1) ?? ''))
    throw new Error('short version cannot contain PreRelease/Build meta data');
  return [...plain, '0', '0'].slice(0, 3).join('.');
}

/** Text that begins with no digit keeps one zero. */
function withoutZeros(part: string): string {
  if (part.length < 2) return part;
  const rest = part.replace(/^0+/, '');
  return /^\d/.test(rest) ? rest : `0${rest}`;
}
