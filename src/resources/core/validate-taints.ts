import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { duplicate, eachInvalid, invalidValue, notSupported, required } from '../../object/field-errors.ts';
import { checkLabelValue, checkQualifiedName } from '../../object/formats.ts';
import { text } from '../../object/parts.ts';
import { goTaint } from '../validation/go-structs.ts';
import { each } from '../validation/values.ts';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** A taint is known by its key and effect. */
export function validateTaints(taints: readonly JsonObject[], path: string): FieldError[] {
  const seen = new Set<string>();
  return each(taints, path, (taint, at) => {
    const key = text(taint.key);
    const identity = `${text(taint.effect)} ${key}`;
    const errors = [
      ...eachInvalid(`${at}.key`, key, checkQualifiedName(key)),
      ...validateTaintValue(text(taint.value), `${at}.value`),
      ...validateTaintEffect(text(taint.effect), `${at}.effect`),
      ...(seen.has(identity) ? [duplicateTaint(taint, at)] : []),
    ];
    seen.add(identity);
    return errors;
  });
}

function validateTaintValue(value: string, path: string): FieldError[] {
  const reasons = checkLabelValue(value);
  return reasons.length === 0 ? [] : [invalidValue(path, value, reasons.join(';'))];
}

function validateTaintEffect(effect: string, path: string): FieldError[] {
  if (effect === '') return [required(path)];
  return EFFECTS.includes(effect) ? [] : [notSupported(path, effect, EFFECTS)];
}

function duplicateTaint(taint: JsonObject, path: string): FieldError {
  const error = duplicate(path, goTaint(taint));
  return { ...error, message: `${error.message}: taints must be unique by key and effect pair` };
}
