import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import {
  duplicate,
  eachInvalid,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from '../../object/field-errors.ts';
import { checkQualifiedName } from '../../object/formats.ts';
import { part, parts, text } from '../../object/parts.ts';
import { goList, invalidShown, invalidUnshown } from '../validation/notation.ts';

/** Rules by which failed pods are counted, ignored, or end a job. */

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const OPERATORS = ['In', 'NotIn'];
const STATUSES = ['False', 'True', 'Unknown'];
const MAX_RULES = 20;
const MAX_PATTERNS = 20;
const MAX_EXIT_CODES = 255;

export function validateFailurePolicy(spec: JsonObject, path: string): FieldError[] {
  const rules = parts(part(spec, 'podFailurePolicy'), 'rules');
  const podSpec = part(spec, 'template', 'spec');
  const containers = [...parts(podSpec, 'containers'), ...parts(podSpec, 'initContainers')];
  const names = containers.map(({ name }) => text(name));
  return [
    ...(rules.length > MAX_RULES ? [tooMany(`${path}.rules`, rules.length, MAX_RULES)] : []),
    ...rules.flatMap((rule, at) => [
      ...validateAction(rule, spec, `${path}.rules[${at}].action`),
      ...validateExitCodes(rule, names, `${path}.rules[${at}].onExitCodes`),
      ...validatePatterns(parts(rule, 'onPodConditions'), `${path}.rules[${at}].onPodConditions`),
      ...validateOneRequirement(rule, `${path}.rules[${at}]`),
    ]),
  ];
}

/** Supported values as a message about a missing one lists them. */
const listed = (values: readonly string[]): string =>
  `valid values: [${values.map((value) => JSON.stringify(value)).join(' ')}]`;

function validateAction({ action }: JsonObject, spec: JsonObject, path: string): FieldError[] {
  const name = text(action);
  if (name === '') return [required(path, listed(ACTIONS))];
  if (name === 'FailIndex' && spec.backoffLimitPerIndex === undefined)
    return [invalidValue(path, name, 'requires the backoffLimitPerIndex to be set')];
  return ACTIONS.includes(name) ? [] : [notSupported(path, name, ACTIONS)];
}

function validateOneRequirement(rule: JsonObject, path: string): FieldError[] {
  const codes = rule.onExitCodes !== undefined;
  const conditions = parts(rule, 'onPodConditions').length > 0;
  if (codes && conditions)
    return [invalidUnshown(path, 'specifying both OnExitCodes and OnPodConditions is not supported')];
  if (!codes && !conditions)
    return [invalidUnshown(path, 'specifying one of OnExitCodes and OnPodConditions is required')];
  return [];
}

function validateExitCodes(rule: JsonObject, containers: readonly string[], path: string): FieldError[] {
  if (rule.onExitCodes === undefined) return [];
  const { operator, containerName, values } = part(rule, 'onExitCodes');
  const errors: FieldError[] = [];
  if (text(operator) === '') errors.push(required(`${path}.operator`, listed(OPERATORS)));
  else if (!OPERATORS.includes(text(operator)))
    errors.push(notSupported(`${path}.operator`, text(operator), OPERATORS));
  if (containerName !== undefined && !containers.includes(text(containerName))) {
    const why = 'must be one of the container or initContainer names in the pod template';
    errors.push(invalidValue(`${path}.containerName`, text(containerName), why));
  }
  const codes = Array.isArray(values) ? values.map(Number) : [];
  return [...errors, ...validateCodes(codes, text(operator), `${path}.values`)];
}

function validateCodes(codes: readonly number[], operator: string, path: string): FieldError[] {
  const shown = goList('int32', [...codes]);
  if (codes.length === 0) return [invalidShown(path, shown, 'at least one value is required')];
  const errors: FieldError[] = [];
  if (codes.length > MAX_EXIT_CODES) errors.push(tooMany(path, codes.length, MAX_EXIT_CODES));
  for (const [at, code] of codes.entries()) {
    if (operator === 'In' && code === 0)
      errors.push(invalidValue(`${path}[${at}]`, code, 'must not be 0 for the In operator'));
    if (codes.indexOf(code) < at) errors.push(duplicate(`${path}[${at}]`, code));
  }
  if (codes.some((code, at) => code < (codes[at - 1] ?? code)))
    errors.push(invalidShown(path, shown, 'must be ordered'));
  return errors;
}

function validatePatterns(patterns: readonly JsonObject[], path: string): FieldError[] {
  const errors = patterns.length > MAX_PATTERNS ? [tooMany(path, patterns.length, MAX_PATTERNS)] : [];
  for (const [at, { type, status }] of patterns.entries()) {
    errors.push(...eachInvalid(`${path}[${at}].type`, text(type), checkQualifiedName(text(type))));
    const field = `${path}[${at}].status`;
    if (text(status) === '') errors.push(required(field, listed(STATUSES)));
    else if (!STATUSES.includes(text(status))) errors.push(notSupported(field, text(status), STATUSES));
  }
  return errors;
}
