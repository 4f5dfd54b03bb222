import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { addInvalid, invalidValue, notSupported } from '../../../object/field-errors.ts';
import { checkLabelValue, checkQualifiedName } from '../../../object/formats.ts';
import { text } from '../../../object/parts.ts';
import { goToleration } from '../../validation/go-structs.ts';
import { eachAt } from '../../validation/values.ts';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function validateTolerations(
  tolerations: readonly JsonObject[],
  path: string,
  errors: FieldError[],
): void {
  eachAt(tolerations, path, (toleration, at) => {
    const { tolerationSeconds } = toleration;
    const key = text(toleration.key);
    const operator = text(toleration.operator);
    const effect = text(toleration.effect);
    if (key !== '') addInvalid(errors, `${at}.key`, key, checkQualifiedName(key));
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
    validateValue(toleration, `${at}.operator`, errors);
  });
}

/** Kubernetes names the operator where the value is wrong. */
function validateValue(toleration: JsonObject, path: string, errors: FieldError[]): void {
  const value = text(toleration.value);
  switch (toleration.operator ?? 'Equal') {
    case 'Equal': {
      const reasons = checkLabelValue(value);
      if (reasons.length > 0) errors.push(invalidValue(path, value, reasons.join(';')));
      return;
    }
    case 'Exists':
      if (value !== '')
        errors.push(
          invalidValue(path, goToleration(toleration), "value must be empty when `operator` is 'Exists'"),
        );
      return;
    default:
      errors.push(notSupported(path, toleration.operator, ['Equal', 'Exists']));
  }
}
