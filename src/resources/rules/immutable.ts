import type { JsonValue } from '../../api/json.ts';
import type { LabelSelector } from '../../api/types/meta/v1.ts';
import { equal } from '../../object/equality.ts';
import type { FieldPath } from '../../object/field-path.ts';
import type { GoText } from '../../object/go-value.ts';
import { goLabelSelector } from './go-structs.ts';

/** A field that keeps the value it had, be it none. `display` writes a struct as messages have it. */
export function mustNotChange<T extends JsonValue>(
  at: FieldPath,
  value: T | undefined,
  old: T | undefined,
  display?: (value: T) => GoText,
): void {
  if (equal(value ?? null, old ?? null)) return;
  const given = value === undefined || display === undefined ? (value ?? null) : display(value);
  at.invalid(given, 'field is immutable');
}

interface Selecting {
  readonly selector?: LabelSelector;
}

/** The pods that a controller has once claimed stay its own. */
export function mustKeepSelector(at: FieldPath, { selector }: Selecting, old: Selecting): void {
  if (equal(selector, old.selector)) return;
  at.field('selector').invalid(goLabelSelector(selector), 'field is immutable');
}
