import type { Toleration } from '../../api/types/core/v1.ts';

/** How tolerations cover each other (Kubernetes: pkg/util/tolerations). */

/** Both lists, without those that another one covers; of equal ones the first stays. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second];
  const merged: Toleration[] = [];
  for (const [at, one] of all.entries()) {
    const covered =
      merged.some((held) => covers(held, one)) ||
      all.slice(at + 1).some((later) => !isSame(later, one) && covers(later, one));
    if (!covered) merged.push(one);
  }
  return merged;
}

/** An empty list of what is allowed allows everything. */
export const areAllowed = (tolerations: readonly Toleration[], allowed: readonly Toleration[]): boolean =>
  allowed.length === 0 || tolerations.every((one) => allowed.some((other) => covers(other, one)));

const TEXTS = ['key', 'operator', 'value', 'effect'] as const;

const isSame = (a: Toleration, b: Toleration): boolean =>
  TEXTS.every((field) => (a[field] ?? '') === (b[field] ?? '')) && secondsOf(a) === secondsOf(b);

/** Undefined: for ever. */
const secondsOf = ({ tolerationSeconds }: Toleration): number | undefined =>
  tolerationSeconds === undefined ? undefined : Number(tolerationSeconds);

/** Whether `wide` tolerates all that `narrow` does. */
export function covers(wide: Toleration, narrow: Toleration): boolean {
  if (isSame(wide, narrow)) return true;
  const { key = '', operator = '', effect = '', value = '' } = wide;
  const anyKey = key === '' && operator === 'Exists';
  if (!anyKey && key !== (narrow.key ?? '')) return false;
  if (effect !== '' && effect !== narrow.effect) return false;
  if (effect === 'NoExecute' && !lastsAsLong(wide, narrow)) return false;
  if (operator === 'Exists') return true;
  const isEqual = operator === 'Equal' || operator === '';
  return isEqual && narrow.operator === 'Equal' && (narrow.value ?? '') === value;
}

function lastsAsLong(wide: Toleration, narrow: Toleration): boolean {
  const seconds = secondsOf(wide);
  if (seconds === undefined) return true;
  const wanted = secondsOf(narrow);
  return wanted !== undefined && wanted <= seconds;
}
