import { isIP } from 'node:net';
import { type Flag, UsageError } from './flag.ts';

/** Checks that several flags share. */

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
