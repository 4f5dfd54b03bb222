import type { FieldPath } from '../../object/field-path.ts';
import { formatQuantity, parseQuantity } from '../../object/quantity.ts';
import { checkPercent } from '../../object/text-formats.ts';
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

/** Both bounds are inclusive. */
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

/** At most 100%; an absolute number has no bound. */
export function mustBeAtMostAll(at: FieldPath, value: number | string | undefined): void {
  if (typeof value !== 'string' || checkPercent(value).length > 0) return;
  if (Number.parseInt(value, 10) > 100) at.invalid(goIntOrString(value), 'must not be greater than 100%');
}

/** Whether it means none at all: 0, `0%`, or a text that is neither a number nor a percentage. */
export function isZeroIntOrPercent(value: number | string | undefined): boolean {
  return typeof value === 'string' ? !/^[+-]?0*[1-9]\d*%?$/.test(value) : (value ?? 0) === 0;
}

/** Quantities as decoded objects have them: canonical texts. An absent one is zero, as in Kubernetes. */

type Quantities = Readonly<Record<string, string>>;

const MILLI_NANOS = 1_000_000n;

export const nanosOf = (quantity: string | undefined): bigint => parseQuantity(quantity ?? '0')?.nanos ?? 0n;

export function mustBeNonNegativeQuantity(at: FieldPath, quantity: string | undefined): void {
  if (nanosOf(quantity) < 0n) at.invalid(quantity, 'must be greater than or equal to 0');
}

export function mustBePositiveQuantity(at: FieldPath, quantity: string | undefined): void {
  if (nanosOf(quantity) <= 0n) at.invalid(quantity ?? '0', 'must be greater than zero');
}

/** Capacities of volumes: {@link mustBeNonNegativeQuantity} with another message. */
export function mustBeResourceQuantity(at: FieldPath, quantity: string | undefined): void {
  if (nanosOf(quantity) < 0n) at.invalid(quantity, 'must be a valid resource quantity');
}

/** Resource lists are kept in thousandths; a finer quantity is rounded up (Kubernetes: SetDefaults_ResourceList). */
export function roundUpToMilli(quantities: Record<string, string> | undefined): void {
  for (const [name, text] of Object.entries(quantities ?? {})) {
    const quantity = parseQuantity(text);
    if (quantities === undefined || quantity === undefined || quantity.nanos % MILLI_NANOS === 0n) continue;
    const up = quantity.nanos > 0n ? MILLI_NANOS : -MILLI_NANOS;
    const nanos = (quantity.nanos / MILLI_NANOS) * MILLI_NANOS + up;
    quantities[name] = formatQuantity({ ...quantity, nanos });
  }
}

/** Equal quantities get equal texts in any unit: `1024` and `1Ki`. */
export const comparableQuantities = (quantities: Quantities): Record<string, string> =>
  Object.fromEntries(Object.entries(quantities).map(([name, quantity]) => [name, String(nanosOf(quantity))]));
