/** Versions of semver.org 2.0.0. */

const IDENTIFIER = '(?:0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)';
const NUMBER = '(0|[1-9]\\d*)';
const VERSION = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-(${IDENTIFIER}(?:\\.${IDENTIFIER})*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
);

export interface SemanticVersion {
  readonly numbers: readonly bigint[];
  readonly prerelease: readonly string[];
}

export function parseSemanticVersion(text: string): SemanticVersion | undefined {
  const match = VERSION.exec(text);
  if (match === null) return undefined;
  const [, major = '0', minor = '0', patch = '0', prerelease] = match;
  return { numbers: [major, minor, patch].map(BigInt), prerelease: prerelease?.split('.') ?? [] };
}

/** Section 11: a release comes after its prereleases, which compare identifier by identifier. */
export function isOlder(a: SemanticVersion, b: SemanticVersion): boolean {
  for (const [at, number] of a.numbers.entries()) {
    const other = b.numbers[at] ?? 0n;
    if (number !== other) return number < other;
  }
  if (a.prerelease.length === 0 || b.prerelease.length === 0)
    return a.prerelease.length > 0 && b.prerelease.length === 0;
  for (const [at, identifier] of a.prerelease.entries()) {
    const other = b.prerelease[at];
    if (other === undefined) return false;
    if (identifier !== other) return isLower(identifier, other);
  }
  return a.prerelease.length < b.prerelease.length;
}

function isLower(a: string, b: string): boolean {
  const [numericA, numericB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (numericA && numericB) return BigInt(a) < BigInt(b);
  return numericA === numericB ? a < b : numericA;
}
