import type { DeviceTaint, DeviceToleration } from '../../api/types/resource/stored.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkLabelValue, checkQualifiedName } from '../../object/text-formats.ts';
import { toTimestamp } from '../../object/timestamps.ts';
import { hasAtMost } from './list-limits.ts';

/** Taints of devices, which tolerations of requests overcome. */

/** Four until 1.34. */
const MAX_TAINTS = 16;

/** The server says when a taint was added, unless its author does. */
export function setTaintDefaults(
  taints: readonly DeviceTaint[] = [],
  now: () => Date = () => new Date(),
): void {
  for (const taint of taints) taint.timeAdded ??= toTimestamp(now());
}

export function validateTaints(at: FieldPath, taints: readonly DeviceTaint[] = []): void {
  if (!hasAtMost(at, at.minor < 35 ? 4 : MAX_TAINTS, taints)) return;
  for (const [path, taint] of at.each(taints)) validateTaint(path, taint);
}

export function validateTaint(at: FieldPath, { key = '', value = '', effect = '' }: DeviceTaint): void {
  at.field('key').invalidFor(key, checkQualifiedName(key));
  at.field('value').invalidFor(value, checkLabelValue(value));
  if (effect === '') at.field('effect').required();
}

export function validateTolerations(at: FieldPath, tolerations: readonly DeviceToleration[] = []): void {
  for (const [path, { key = '', operator = '', value = '' }] of at.each(tolerations)) {
    if (key !== '') path.field('key').invalidFor(key, checkQualifiedName(key));
    if (operator === 'Equal') path.field('value').invalidFor(value, checkLabelValue(value));
    else if (operator === 'Exists' && value !== '')
      path.field('value').invalid(value, 'must be empty for operator `Exists`');
  }
}
