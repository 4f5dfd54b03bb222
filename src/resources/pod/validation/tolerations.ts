import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { eachInvalid, invalidValue, notSupported } from '../../../object/field-errors.ts';
import { checkLabelValue, checkQualifiedName } from '../../../object/formats.ts';
import { text } from '../../cells.ts';
import { goToleration } from '../../validation/go-structs.ts';
import { each } from '../../validation/values.ts';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function validateTolerations(tolerations: readonly JsonObject[], path: string): FieldError[] {
  return each(tolerations, path, (toleration, at) => {
    const { tolerationSeconds } = toleration;
    const key = text(toleration.key);
    const operator = text(toleration.operator);
    const effect = text(toleration.effect);
    const errors = key === '' ? [] : eachInvalid(`${at}.key`, key, checkQualifiedName(key));
    if (key === '' && operator !== 'Exists') {
      const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.push(invalidValue(`${at}.operator`, operator, why));
    }
    if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
      const why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
      errors.push(invalidValue(`${at}.effect`, effect, why));
    }
    if (effect !== '' && !EFFECTS.includes(effect))
      errors.push(notSupported(`${at}.effect`, effect, EFFECTS));
    return [...errors, ...validateValue(toleration, `${at}.operator`)];
  });
}

/** Kubernetes names the operator where the value is wrong. */
function validateValue(toleration: JsonObject, path: string): FieldError[] {
  const value = text(toleration.value);
  switch (toleration.operator ?? 'Equal') {
    case 'Equal': {
      const reasons = checkLabelValue(value);
      return reasons.length === 0 ? [] : [invalidValue(path, value, reasons.join(';'))];
    }
    case 'Exists':
      if (value === '') return [];
      return [
        invalidValue(path, goToleration(toleration), "value must be empty when `operator` is 'Exists'"),
      ];
    default:
      return [notSupported(path, toleration.operator, ['Equal', 'Exists'])];
  }
}
