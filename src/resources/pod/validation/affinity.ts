import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { eachInvalid, forbiddenField, invalidValue, required } from '../../../object/field-errors.ts';
import { checkQualifiedName } from '../../../object/formats.ts';
import { part, parts, text } from '../../../object/parts.ts';
import { validateOptionalSelector } from '../../validation/label-selector.ts';
import { each, stringMap, strings, validateName } from '../../validation/values.ts';
import { validateNodeSelector, validateNodeSelectorTerm } from './node-selector.ts';

/** Where a pod must or should be: near what nodes and other pods, or far from them. */

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

export function validateAffinity(affinity: JsonObject, path: string): FieldError[] {
  return [
    ...validateNodeAffinity(part(affinity, 'nodeAffinity'), `${path}.nodeAffinity`),
    ...validatePodAffinity(part(affinity, 'podAffinity'), `${path}.podAffinity`),
    ...validatePodAffinity(part(affinity, 'podAntiAffinity'), `${path}.podAntiAffinity`),
  ];
}

function validateNodeAffinity(affinity: JsonObject, path: string): FieldError[] {
  return [
    ...(affinity[REQUIRED] === undefined
      ? []
      : validateNodeSelector(part(affinity, REQUIRED), `${path}.${REQUIRED}`)),
    ...each(parts(affinity, PREFERRED), `${path}.${PREFERRED}`, (term, at) => [
      ...validateWeight(term, at),
      ...validateNodeSelectorTerm(part(term, 'preference'), `${at}.preference`),
    ]),
  ];
}

function validatePodAffinity(affinity: JsonObject, path: string): FieldError[] {
  return [
    ...each(parts(affinity, REQUIRED), `${path}.${REQUIRED}`, validateTerm),
    ...each(parts(affinity, PREFERRED), `${path}.${PREFERRED}`, (term, at) => [
      ...validateWeight(term, at),
      ...validateTerm(part(term, 'podAffinityTerm'), `${at}.podAffinityTerm`),
    ]),
  ];
}

const MAX_WEIGHT = 100;

function validateWeight({ weight }: JsonObject, path: string): FieldError[] {
  return typeof weight === 'number' && weight > 0 && weight <= MAX_WEIGHT
    ? []
    : [invalidValue(`${path}.weight`, weight ?? 0, 'must be in the range 1-100')];
}

function validateTerm(term: JsonObject, path: string): FieldError[] {
  const topology = text(term.topologyKey);
  return [
    ...validateOptionalSelector(term, 'labelSelector', path),
    ...validateOptionalSelector(term, 'namespaceSelector', path),
    ...strings(term, 'namespaces').flatMap((name) => validateName(`${path}.namespace`, name, 'dns-label')),
    ...validateLabelKeys(term, path),
    ...(topology === '' ? [required(`${path}.topologyKey`, 'can not be empty')] : []),
    ...eachInvalid(`${path}.topologyKey`, topology, checkQualifiedName(topology)),
  ];
}

/** Labels whose values are taken from the pod itself, to be equal or to differ. */
function validateLabelKeys(term: JsonObject, path: string): FieldError[] {
  const match = strings(term, 'matchLabelKeys');
  const mismatch = strings(term, 'mismatchLabelKeys');
  return [
    ...validateKeys(term, 'matchLabelKeys', path),
    ...validateKeys(term, 'mismatchLabelKeys', path),
    ...selectedTwice(term, match).map((at) =>
      invalidValue(`${path}[${at}]`, match[at], 'exists in both matchLabelKeys and labelSelector'),
    ),
    ...each(match, `${path}.matchLabelKeys`, (key, at) =>
      mismatch.includes(key)
        ? [invalidValue(at, key, 'exists in both matchLabelKeys and mismatchLabelKeys')]
        : [],
    ),
  ];
}

function validateKeys(term: JsonObject, field: string, path: string): FieldError[] {
  const keys = strings(term, field);
  if (keys.length === 0) return [];
  if (term.labelSelector === undefined)
    return [forbiddenField(`${path}.${field}`, 'must not be specified when labelSelector is not set')];
  return each(keys, `${path}.${field}`, (key, at) => eachInvalid(at, key, checkQualifiedName(key)));
}

/**
 * Indexes of keys that the selector names more than once. Once is allowed: the server itself adds an expression for each
 * key when the pod is created.
 */
function selectedTwice(term: JsonObject, keys: readonly string[]): number[] {
  const selector = part(term, 'labelSelector');
  const seen = new Set(Object.keys(stringMap(selector, 'matchLabels')));
  const twice: number[] = [];
  for (const expression of parts(selector, 'matchExpressions')) {
    const key = text(expression.key);
    if (seen.has(key) && keys.includes(key)) twice.push(keys.lastIndexOf(key));
    seen.add(key);
  }
  return twice;
}
