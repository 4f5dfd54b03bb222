import type { JsonValue } from '../../api/json.ts';
import type { DeviceConfiguration } from '../../api/types/resource/v1alpha3.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { mustBeName } from '../rules/names.ts';
import { mustBeDistinct, mustBeDriverName, mustHaveAtMost } from './names.ts';

/** Settings for drivers, in classes, claims and what claims are given. */

export const MAX_CONFIGURATIONS = 32;
export const MAX_REQUESTS = 32;

/** Parameters that mean something to their driver and to nothing else. */
export function validateConfiguration(at: FieldPath, { opaque }: DeviceConfiguration): void {
  const path = at.field('opaque');
  if (opaque === undefined) {
    path.required();
    return;
  }
  mustBeDriverName(path.field('driver'), opaque.driver ?? '');
  validateParameters(path.field('parameters'), opaque.parameters);
}

function validateParameters(at: FieldPath, parameters: JsonValue | undefined): void {
  if (parameters === undefined || parameters === null) at.required();
  else if (typeof parameters !== 'object' || Array.isArray(parameters))
    at.invalid('<value omitted>', 'parameters must be a valid JSON object');
}

/** Names of requests in the same claim, all of which are `known`. */
export function mustBeRequestNames(
  at: FieldPath,
  names: readonly string[],
  known: ReadonlySet<string>,
): void {
  for (const [path, name] of at.each(names)) mustBeRequestName(path, name, known);
  mustHaveAtMost(at, MAX_REQUESTS, names);
  mustBeDistinct(at, names);
}

export function mustBeRequestName(at: FieldPath, name: string, known: ReadonlySet<string>): void {
  mustBeName(at, name, 'dns-label');
  if (!known.has(name)) at.invalid(name, 'must be the name of a request in the claim');
}
