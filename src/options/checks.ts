import { isIP } from 'node:net';
import { type Flag, UsageError } from './flag.ts';

/** Checks that several flags share, and the hint that many of their messages end with. */

export function notNegative(value: number, flag: string): number {
  if (value < 0) throw new UsageError(`${flag}: ${value} must not be negative`);
  return value;
}

export function positive(value: number, flag: string): number {
  if (value <= 0) throw new UsageError(`${flag}: ${value} must be greater than 0`);
  return value;
}

/** '' for none. */
export function ipAddress(value: string, flag: string): string {
  if (value !== '' && isIP(value) === 0)
    throw new UsageError(`${flag}: ${JSON.stringify(value)} is not an IP address`);
  return value;
}

export const oneOf =
  <Known extends string>(...known: readonly Known[]) =>
  (value: string, flag: string): Known => {
    const found = known.find((one) => one === value);
    if (found !== undefined) return found;
    throw new UsageError(`${flag}: ${JSON.stringify(value)} must be one of ${known.join(', ')}`);
  };

/** Versions of the reviews that webhooks are sent. */
export function reviewVersion(value: string, flag: string): 'v1' | 'v1beta1' {
  if (value === 'v1' || value === 'v1beta1') return value;
  throw new UsageError(`${flag}: ${JSON.stringify(value)} must be v1 or v1beta1`);
}

/** A certificate is of no use without its key. */
export function bothOrNeither(one: { flag: Flag; file: string }, other: { flag: Flag; file: string }): void {
  if ((one.file === '') === (other.file === '')) return;
  throw new UsageError(`${one.flag.shown} and ${other.flag.shown} belong together: give both or neither`);
}

/** The name with the fewest changes, if that is few. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((other) => ({ other, changes: countChanges(name, other) }))
    .sort((a, b) => a.changes - b.changes);
  const [best] = ranked;
  return best !== undefined && best.changes <= Math.max(2, name.length / 3) ? best.other : undefined;
}

/** Levenshtein distance. */
function countChanges(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
