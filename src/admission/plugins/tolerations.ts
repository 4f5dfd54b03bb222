import type { JsonObject } from '../../api/object-meta.ts';
import { count, text } from '../../object/parts.ts';

/** How tolerations cover each other (Kubernetes: pkg/util/tolerations). */

/** Both lists, without those that another one covers; of equal ones the first stays. */
export function mergeTolerations(
  first: readonly JsonObject[],
  second: readonly JsonObject[],
): readonly JsonObject[] {
  const all = [...first, ...second];
  const merged: JsonObject[] = [];
  for (const [at, one] of all.entries()) {
    const covered =
      merged.some((held) => covers(held, one)) ||
      all.slice(at + 1).some((later) => !isSame(later, one) && covers(later, one));
    if (!covered) merged.push(one);
  }
  return merged;
}

/** An empty list of what is allowed allows everything. */
export const areAllowed = (tolerations: readonly JsonObject[], allowed: readonly JsonObject[]): boolean =>
  allowed.length === 0 || tolerations.every((one) => allowed.some((other) => covers(other, one)));

const TEXTS = ['key', 'operator', 'value', 'effect'] as const;

const isSame = (a: JsonObject, b: JsonObject): boolean =>
  TEXTS.every((field) => text(a[field]) === text(b[field])) && secondsOf(a) === secondsOf(b);

/** Undefined: for ever. */
const secondsOf = ({ tolerationSeconds }: JsonObject): number | undefined =>
  tolerationSeconds === undefined || tolerationSeconds === null ? undefined : count(tolerationSeconds);

/** Whether `wide` tolerates all that `narrow` does. */
export function covers(wide: JsonObject, narrow: JsonObject): boolean {
  if (isSame(wide, narrow)) return true;
  const key = text(wide.key);
  const operator = text(wide.operator);
  const effect = text(wide.effect);
  const anyKey = key === '' && operator === 'Exists';
  if (!anyKey && key !== text(narrow.key)) return false;
  if (effect !== '' && effect !== text(narrow.effect)) return false;
  if (effect === 'NoExecute' && !lastsAsLong(wide, narrow)) return false;
  if (operator === 'Exists') return true;
  const isEqual = operator === 'Equal' || operator === '';
  return isEqual && text(narrow.operator) === 'Equal' && text(narrow.value) === text(wide.value);
}

function lastsAsLong(wide: JsonObject, narrow: JsonObject): boolean {
  const seconds = secondsOf(wide);
  if (seconds === undefined) return true;
  const wanted = secondsOf(narrow);
  return wanted !== undefined && wanted <= seconds;
}
