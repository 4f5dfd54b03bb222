import type { Taint } from '../../api/types/core/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkLabelValue, checkQualifiedName } from '../../object/formats.ts';
import { goTaint } from '../rules/go-structs.ts';
import { mustBeOneOf } from '../rules/names.ts';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** A taint is known by its key and effect. */
export function validateTaints(at: FieldPath, taints: readonly Taint[] | undefined): void {
  const seen = new Set<string>();
  for (const [path, taint] of at.each(taints)) {
    const { key = '', value = '', effect = '' } = taint;
    const identity = `${effect} ${key}`;
    const reasons = checkLabelValue(value);
    path.field('key').invalidFor(key, checkQualifiedName(key));
    if (reasons.length > 0) path.field('value').invalid(value, reasons.join(';'));
    if (effect === '') path.field('effect').required();
    else mustBeOneOf(path.field('effect'), effect, EFFECTS);
    if (seen.has(identity)) path.duplicate(goTaint(taint), 'taints must be unique by key and effect pair');
    seen.add(identity);
  }
}
