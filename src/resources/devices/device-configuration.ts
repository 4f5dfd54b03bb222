import type { JsonValue } from '../../api/json.ts';
import type { DeviceConfiguration, DeviceSelector } from '../../api/types/resource/stored.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { isObject } from '../../object/json-values.ts';
import { mustBeDriverName } from './device-names.ts';
import { hasAtMost } from './list-limits.ts';

/** Settings for drivers, and selectors of devices, in classes, claims and allocations. */

export const MAX_CONFIGURATIONS = 32;
const MAX_SELECTORS = 32;
const MAX_BYTES = 10 * 1024;

/** `isStored`: the configuration was there before, when other limits held. */
export function validateConfiguration(
  at: FieldPath,
  { opaque }: DeviceConfiguration,
  isStored = false,
): void {
  const path = at.field('opaque');
  if (opaque === undefined) {
    path.required();
    return;
  }
  mustBeDriverName(path.field('driver'), opaque.driver ?? '');
  mustBeParameters(path.field('parameters'), opaque.parameters, isStored);
}

/** An object that only a driver understands. */
export function mustBeParameters(at: FieldPath, value: JsonValue | undefined, isStored = false): void {
  if (value === undefined || value === null) at.required();
  else if (!isStored && Buffer.byteLength(JSON.stringify(value)) > MAX_BYTES) at.tooLong(MAX_BYTES);
  else if (!isObject(value)) at.invalid('<value omitted>', 'must be a valid JSON object');
}

/** Whether expressions compile is checked afterwards ({@link compilingSelectors}). */
export function validateDeviceSelectors(
  at: FieldPath,
  selectors: readonly DeviceSelector[] = [],
  isStored = false,
): void {
  if (!hasAtMost(at, MAX_SELECTORS, selectors)) return;
  for (const [path, { cel }] of at.each(selectors)) {
    const expression = cel?.expression ?? '';
    if (cel === undefined) path.field('cel').required();
    else if (expression.trim() === '') path.field('cel').field('expression').required();
    else if (!isStored && Buffer.byteLength(expression) > MAX_BYTES)
      path.field('cel').field('expression').tooLong(MAX_BYTES);
  }
}
