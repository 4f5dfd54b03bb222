import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { duplicate, eachInvalid } from '../../object/field-errors.ts';
import { checkLabelValue, checkName, checkQualifiedName } from '../../object/formats.ts';
import { part, parts, text } from '../../object/parts.ts';
import { validateOverhead } from '../pod/validation/resource-requirements.ts';
import { validateTolerations } from '../pod/validation/tolerations.ts';
import { goToleration } from '../validation/go-structs.ts';

export function validateRuntimeClass(runtime: ApiObject): FieldError[] {
  const handler = text(runtime.handler);
  const limits = part(runtime, 'overhead', 'podFixed');
  const errors = eachInvalid('handler', handler, checkName(handler, 'dns-label'));
  validateOverhead(limits, 'overhead', errors);
  return [...errors, ...validateScheduling(part(runtime, 'scheduling'))];
}

function validateScheduling(scheduling: JsonObject): FieldError[] {
  const path = 'scheduling.nodeSelector';
  const tolerations = parts(scheduling, 'tolerations');
  const errors = Object.entries(part(scheduling, 'nodeSelector')).flatMap(([key, value]) => [
    ...eachInvalid(path, key, checkQualifiedName(key)),
    ...eachInvalid(path, value, checkLabelValue(text(value))),
  ]);
  validateTolerations(tolerations, 'scheduling.tolerations', errors);
  return [...errors, ...validateDistinct(tolerations, 'scheduling.tolerations')];
}

/** How long a taint is tolerated does not make a toleration another one. */
function validateDistinct(tolerations: readonly JsonObject[], path: string): FieldError[] {
  const keys = tolerations.map(({ key, operator, value, effect }) =>
    JSON.stringify([text(key), text(operator), text(value), text(effect)]),
  );
  return tolerations.flatMap((toleration, at) =>
    keys.indexOf(keys[at] ?? '') < at ? [duplicate(`${path}[${at}]`, goToleration(toleration))] : [],
  );
}
