import type { FieldPath } from '../../object/field-path.ts';

/** Whether a list has at most this many items. Longer ones are reported, and not looked at further. */
export function hasAtMost(at: FieldPath, most: number, items: readonly unknown[]): boolean {
  if (items.length <= most) return true;
  at.tooMany(items.length, most);
  return false;
}

/** Requires that no item appears twice. */
export function mustBeDistinct(at: FieldPath, items: readonly string[]): void {
  const seen = new Set<string>();
  for (const [path, item] of at.each(items)) {
    if (seen.has(item)) path.duplicate(item);
    seen.add(item);
  }
}
