import type { FieldPath } from '../../object/field-path.ts';
import { checkPercent } from '../../object/formats.ts';
import { goIntOrString } from './go-structs.ts';

/** Rules of numbers. An absent number breaks none of them. */

type Integer = number | bigint;

export function mustBeNonNegative(at: FieldPath, value: Integer | undefined): void {
  if (value !== undefined && value < 0) at.invalid(value, 'must be greater than or equal to 0');
}

/** The named fields of one message: `mustAllBeNonNegative(at, spec, ['replicas', 'minReadySeconds'])`. */
export function mustAllBeNonNegative<Name extends string>(
  at: FieldPath,
  owner: { readonly [name in Name]?: Integer },
  names: readonly Name[],
): void {
  for (const name of names) {
    const value = owner[name];
    if (value !== undefined && value < 0) mustBeNonNegative(at.field(name), value);
  }
}

/** Both ends are allowed. */
export function mustBeWithin(
  at: FieldPath,
  value: Integer | undefined,
  { least, most }: { readonly least: number; readonly most: number },
): void {
  if (value === undefined || (value >= least && value <= most)) return;
  at.invalid(value, `must be between ${least} and ${most}, inclusive`);
}

/** `3` or `25%`; not `-1`, `25` as a text, or `a lot`. */
export function mustBeIntOrPercent(at: FieldPath, value: number | string | undefined): void {
  if (typeof value === 'string') at.invalidFor(goIntOrString(value), checkPercent(value));
  else mustBeNonNegative(at, value);
}

/** No more than all of them; a number may exceed what there is. */
export function mustBeAtMostAll(at: FieldPath, value: number | string | undefined): void {
  if (typeof value !== 'string' || checkPercent(value).length > 0) return;
  if (Number.parseInt(value, 10) > 100) at.invalid(goIntOrString(value), 'must not be greater than 100%');
}

/** Whether it means none at all: 0, `0%`, or a text that is neither a number nor a percentage. */
export function isZeroIntOrPercent(value: number | string | undefined): boolean {
  return typeof value === 'string' ? !/^[+-]?0*[1-9]\d*%?$/.test(value) : (value ?? 0) === 0;
}
