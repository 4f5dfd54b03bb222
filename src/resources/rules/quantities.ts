import type { FieldPath } from '../../object/field-path.ts';
import { formatQuantity, parseQuantity } from '../../object/quantity.ts';

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

/** Capacities of volumes: the rule of {@link mustBeNonNegativeQuantity} in words of its own. */
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

/** Quantities that are equal get equal texts, whatever their units: `1024` and `1Ki`. */
export const comparableQuantities = (quantities: Quantities): Record<string, string> =>
  Object.fromEntries(Object.entries(quantities).map(([name, quantity]) => [name, String(nanosOf(quantity))]));
