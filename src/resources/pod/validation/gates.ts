import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { addInvalid, duplicate } from '../../../object/field-errors.ts';
import { checkQualifiedName } from '../../../object/formats.ts';
import { objectsOf, text } from '../../../object/parts.ts';
import { eachAt } from '../../validation/values.ts';

/** What others must agree to before a pod is ready, and before it is placed. */
export function validateGates(spec: JsonObject, path: string, errors: FieldError[]): void {
  const { readinessGates, schedulingGates } = spec;
  if (readinessGates !== undefined)
    eachAt(objectsOf(readinessGates), `${path}.readinessGates`, ({ conditionType }, at) => {
      const type = text(conditionType);
      addInvalid(errors, `${at}.conditionType`, type, checkQualifiedName(type));
    });
  if (schedulingGates !== undefined)
    validateSchedulingGates(objectsOf(schedulingGates), `${path}.schedulingGates`, errors);
}

function validateSchedulingGates(gates: readonly JsonObject[], path: string, errors: FieldError[]): void {
  const seen = new Set<string>();
  eachAt(gates, path, (gate, at) => {
    const name = text(gate.name);
    addInvalid(errors, at, name, checkQualifiedName(name));
    if (seen.has(name)) errors.push(duplicate(at, name));
    seen.add(name);
  });
}
