import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import {
  duplicate,
  eachInvalid,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../../object/field-errors.ts';
import { checkQualifiedName } from '../../../object/formats.ts';
import { count, part, parts, text } from '../../../object/parts.ts';
import { validateOptionalSelector } from '../../validation/label-selector.ts';
import { each, stringMap, strings } from '../../validation/values.ts';

const ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'];

export function validateTopologySpread(constraints: readonly JsonObject[], path: string): FieldError[] {
  return each(constraints, path, (constraint, at, index) => {
    const topology = text(constraint.topologyKey);
    const action = text(constraint.whenUnsatisfiable);
    const again = constraints
      .slice(index + 1)
      .some((other) => other.topologyKey === topology && other.whenUnsatisfiable === action);
    return [
      ...(count(constraint.maxSkew) > 0
        ? []
        : [invalidValue(`${at}.maxSkew`, constraint.maxSkew ?? 0, 'must be greater than zero')]),
      ...(topology === '' ? [required(`${at}.topologyKey`, 'can not be empty')] : []),
      ...(ACTIONS.includes(action) ? [] : [notSupported(`${at}.whenUnsatisfiable`, action, ACTIONS)]),
      ...(again ? [duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, `{${topology}, ${action}}`)] : []),
      ...validateMinDomains(constraint, `${at}.minDomains`),
      ...validateLabelKeys(constraint, `${at}.matchLabelKeys`),
      ...validateOptionalSelector(constraint, 'labelSelector', at),
    ];
  });
}

function validateMinDomains({ minDomains, whenUnsatisfiable }: JsonObject, path: string): FieldError[] {
  if (typeof minDomains !== 'number') return [];
  const action = text(whenUnsatisfiable);
  const why = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`;
  return [
    ...(minDomains > 0 ? [] : [invalidValue(path, minDomains, 'must be greater than zero')]),
    ...(action === 'DoNotSchedule' ? [] : [invalidValue(path, minDomains, why)]),
  ];
}

function validateLabelKeys(constraint: JsonObject, path: string): FieldError[] {
  const keys = strings(constraint, 'matchLabelKeys');
  if (keys.length === 0) return [];
  const selector = part(constraint, 'labelSelector');
  const selected = new Set([
    ...Object.keys(stringMap(selector, 'matchLabels')),
    ...parts(selector, 'matchExpressions').map(({ key }) => text(key)),
  ]);
  return [
    ...(constraint.labelSelector === undefined
      ? [forbiddenField(path, 'must not be specified when labelSelector is not set')]
      : []),
    ...each(keys, path, (key, at) => [
      ...eachInvalid(at, key, checkQualifiedName(key)),
      ...(selected.has(key)
        ? [invalidValue(at, key, 'exists in both matchLabelKeys and labelSelector')]
        : []),
    ]),
  ];
}
