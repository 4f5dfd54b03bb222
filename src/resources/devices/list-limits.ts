import type { FieldPath } from '../../object/field-path.ts';

/** Whether a list has at most this many items. Longer ones are reported, and not looked at further. */
export function hasAtMost(at: FieldPath, most: number, items: readonly unknown[]): boolean {
  if (items.length <= most) return true;
  at.tooMany(items.length, most);
  return false;
}
