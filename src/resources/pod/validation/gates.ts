import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { duplicate, eachInvalid } from '../../../object/field-errors.ts';
import { checkQualifiedName } from '../../../object/formats.ts';
import { parts, text } from '../../cells.ts';
import { each } from '../../validation/values.ts';

/** What others must agree to before a pod is ready, and before it is placed. */
export function validateGates(spec: JsonObject, path: string): FieldError[] {
  const seen = new Set<string>();
  return [
    ...each(parts(spec, 'readinessGates'), `${path}.readinessGates`, ({ conditionType }, at) =>
      eachInvalid(`${at}.conditionType`, text(conditionType), checkQualifiedName(text(conditionType))),
    ),
    ...each(parts(spec, 'schedulingGates'), `${path}.schedulingGates`, (gate, at) => {
      const name = text(gate.name);
      const errors = eachInvalid(at, name, checkQualifiedName(name));
      if (seen.has(name)) errors.push(duplicate(at, name));
      seen.add(name);
      return errors;
    }),
  ];
}
