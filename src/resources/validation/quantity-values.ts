import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { invalidValue } from '../../object/field-errors.ts';
import { text } from '../../object/parts.ts';
import { formatQuantity, parseQuantity } from '../../object/quantity.ts';

/** Quantities as decoded objects have them: canonical texts. An absent one is zero, as in Kubernetes. */

const MILLI_NANOS = 1_000_000n;

export const nanosOf = (value: JsonValue | undefined): bigint => parseQuantity(text(value, '0'))?.nanos ?? 0n;

/** Resource name and quantity of each entry of a resource list. */
export const quantitiesOf = (list: JsonObject): [string, string][] =>
  Object.entries(list).map(([name, value]) => [name, text(value, '0')]);

export function validateNonNegativeQuantity(value: JsonValue | undefined, path: string): FieldError[] {
  return nanosOf(value) < 0n ? [invalidValue(path, text(value), 'must be greater than or equal to 0')] : [];
}

/** Resource lists are kept in thousandths; what is finer is rounded up (Kubernetes: SetDefaults_ResourceList). */
export function roundUpToMilli(list: JsonObject): void {
  for (const [name, value] of Object.entries(list)) {
    const quantity = parseQuantity(text(value));
    if (quantity === undefined || quantity.nanos % MILLI_NANOS === 0n) continue;
    const up = quantity.nanos > 0n ? MILLI_NANOS : -MILLI_NANOS;
    list[name] = formatQuantity({ ...quantity, nanos: (quantity.nanos / MILLI_NANOS) * MILLI_NANOS + up });
  }
}
