import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import {
  duplicate,
  eachInvalid,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../object/field-errors.ts';
import { checkName } from '../../object/formats.ts';
import { goList, shown } from '../../object/go-value.ts';
import { part, text } from '../../object/parts.ts';
import { has } from '../validation/fields.ts';
import { validateLabelSelector } from '../validation/label-selector.ts';
import { strings } from '../validation/values.ts';
import { validateMatchResources } from './validate-match.ts';

const ACTIONS = ['Audit', 'Deny', 'Warn'] as const;
const NOT_FOUND_ACTIONS = ['Deny', 'Allow'] as const;

/** A policy in force: on what, with which parameters, and what happens to requests that fail it. */
export function validatePolicyBinding(binding: ApiObject): FieldError[] {
  const spec = part(binding, 'spec');
  const policy = text(spec.policyName);
  return [
    ...(policy === ''
      ? [required('spec.policyName')]
      : eachInvalid('spec.policyName', policy, checkName(policy, 'dns-subdomain'))),
    ...(has(spec, 'paramRef') ? validateParamRef(part(spec, 'paramRef'), 'spec.paramRef') : []),
    ...validateMatchResources(part(spec, 'matchResources'), 'spec.matchResources'),
    ...validateActions(strings(spec, 'validationActions'), 'spec.validationActions'),
  ];
}

function validateParamRef(ref: JsonObject, path: string): FieldError[] {
  const name = text(ref.name);
  const selects = has(ref, 'selector');
  const errors = name === '' ? [] : eachInvalid(`${path}.name`, name, checkName(name, 'path-segment'));
  if (selects) errors.push(...validateLabelSelector(part(ref, 'selector'), `${path}.selector`));
  if (name !== '' && selects) {
    const why = 'name and selector are mutually exclusive';
    errors.push(forbiddenField(`${path}.name`, why), forbiddenField(`${path}.selector`, why));
  }
  if (name === '' && !selects) errors.push(required(path, 'one of name or selector must be specified'));
  const action = text(ref.parameterNotFoundAction);
  if (action === '') errors.push(required(`${path}.parameterNotFoundAction`));
  else if (!NOT_FOUND_ACTIONS.some((known) => known === action))
    errors.push(notSupported(`${path}.parameterNotFoundAction`, action, NOT_FOUND_ACTIONS));
  return errors;
}

function validateActions(actions: readonly string[], path: string): FieldError[] {
  if (actions.length === 0) return [required(path, 'at least one validation action is required')];
  const errors = actions.flatMap((action, at) => [
    ...(ACTIONS.some((known) => known === action) ? [] : [notSupported(`${path}[${at}]`, action, ACTIONS)]),
    ...(actions.indexOf(action) < at ? [duplicate(`${path}[${at}]`, action)] : []),
  ]);
  if (actions.includes('Deny') && actions.includes('Warn')) {
    const why =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
    errors.push(invalidValue(path, shown(goList('admissionregistration.ValidationAction', actions)), why));
  }
  return errors;
}
