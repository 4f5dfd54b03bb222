import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { PolicyCompiler } from '../../cel/policies/compiler.ts';
import { invalidValue, required } from '../../object/field-errors.ts';
import { checkName } from '../../object/formats.ts';
import { part, parts, text } from '../../object/parts.ts';
import { validateConditions } from '../validation/conditions.ts';
import { has, joinedInvalid } from '../validation/fields.ts';
import { validateAuditAnnotations, validateValidations, validateVariables } from './validate-expressions.ts';
import { validateFailurePolicy, validateMatchConditions, validateMatchResources } from './validate-match.ts';

export function validatePolicy(policy: ApiObject): FieldError[] {
  const spec = part(policy, 'spec');
  const hasParams = has(spec, 'paramKind');
  const compiler = new PolicyCompiler(hasParams);
  return [
    ...validateFailurePolicy(spec, 'spec'),
    ...(hasParams ? validateParamKind(part(spec, 'paramKind')) : []),
    ...validateConstraints(spec),
    // Conditions are asked before there are any variables.
    ...validateMatchConditions(spec, 'spec', new PolicyCompiler(hasParams)),
    ...validateVariables(parts(spec, 'variables'), 'spec.variables', compiler),
    ...validateChecks(spec, policy.metadata.name ?? '', compiler),
  ];
}

function validateConstraints(spec: JsonObject): FieldError[] {
  const path = 'spec.matchConstraints';
  if (!has(spec, 'matchConstraints')) return [required(path)];
  const match = part(spec, 'matchConstraints');
  return [
    ...validateMatchResources(match, path),
    ...(parts(match, 'resourceRules').length === 0 ? [required(`${path}.resourceRules`)] : []),
  ];
}

function validateChecks(spec: JsonObject, name: string, compiler: PolicyCompiler): FieldError[] {
  const validations = parts(spec, 'validations');
  const annotations = parts(spec, 'auditAnnotations');
  if (validations.length === 0 && annotations.length === 0) {
    const why = 'validations or auditAnnotations must contain at least one item';
    return [required('spec.validations', why), required('spec.auditAnnotations', why)];
  }
  return [
    ...validateValidations(validations, 'spec.validations', compiler),
    ...validateAuditAnnotations(annotations, name, 'spec.auditAnnotations', compiler),
  ];
}

function validateParamKind(kind: JsonObject): FieldError[] {
  const name = text(kind.kind);
  return [
    ...validateApiVersion(text(kind.apiVersion), 'spec.paramKind.apiVersion'),
    ...(name === '' ? [required('spec.paramKind.kind')] : validateKind(name, 'spec.paramKind.kind')),
  ];
}

function validateKind(kind: string, path: string): FieldError[] {
  const reasons = checkName(kind.toLowerCase(), 'dns-1035-label');
  return reasons.length === 0
    ? []
    : [invalidValue(path, kind, `may have mixed case, but should otherwise match: ${reasons.join(',')}`)];
}

/** `v1` or `apps/v1`. */
function validateApiVersion(apiVersion: string, path: string): FieldError[] {
  if (apiVersion === '') return [required(path)];
  const pieces = apiVersion.split('/');
  if (pieces.length > 2)
    return [invalidValue(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  const version = pieces.at(-1) ?? '';
  const group = pieces.length === 2 ? (pieces[0] ?? '') : '';
  return [
    ...(group === '' ? [] : joinedInvalid(path, group, checkName(group, 'dns-subdomain'))),
    ...(version === ''
      ? [invalidValue(path, apiVersion, 'version must be specified')]
      : joinedInvalid(path, version, checkName(version, 'dns-1035-label'))),
  ];
}

export function validatePolicyStatus(policy: ApiObject): FieldError[] {
  const status = part(policy, 'status');
  const path = 'status.typeChecking.expressionWarnings';
  const warnings = parts(part(status, 'typeChecking'), 'expressionWarnings').flatMap((warning, at) =>
    ['warning', 'fieldRef']
      .filter((name) => text(warning[name]).trim() === '')
      .map((name) => required(`${path}[${at}].${name}`)),
  );
  return [...warnings, ...validateConditions(parts(status, 'conditions'), 'status.conditions')];
}
