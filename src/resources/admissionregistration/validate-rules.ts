import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { duplicate, eachInvalid, invalidValue, notSupported, required } from '../../object/field-errors.ts';
import { checkName } from '../../object/formats.ts';
import { goList, shown } from '../../object/go-value.ts';
import { text } from '../../object/parts.ts';
import { strings } from '../validation/values.ts';

/** What an admission webhook or policy is asked about: operations on resources. */

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'] as const;
const SCOPES = ['*', 'Cluster', 'Namespaced'] as const;

export function validateRules(rules: readonly JsonObject[], path: string): FieldError[] {
  return rules.flatMap((rule, at) => validateRule(rule, `${path}[${at}]`));
}

/** Rules that may also name objects. */
export function validateNamedRules(rules: readonly JsonObject[], path: string): FieldError[] {
  return rules.flatMap((rule, at) => [
    ...validateNames(strings(rule, 'resourceNames'), `${path}[${at}].resourceNames`),
    ...validateRule(rule, `${path}[${at}]`),
  ]);
}

function validateNames(names: readonly string[], path: string): FieldError[] {
  return names.flatMap((name, at) => [
    ...eachInvalid(`${path}[${at}]`, name, checkName(name, 'path-segment')),
    ...(names.indexOf(name) < at ? [duplicate(`${path}[${at}]`, name)] : []),
  ]);
}

function validateRule(rule: JsonObject, path: string): FieldError[] {
  const errors = [
    ...validateWildcardList(rule, 'operations', path, 'operations'),
    ...strings(rule, 'operations').flatMap((operation, at) =>
      OPERATIONS.some((known) => known === operation)
        ? []
        : [notSupported(`${path}.operations[${at}]`, operation, OPERATIONS)],
    ),
    ...validateWildcardList(rule, 'apiGroups', path, 'API groups'),
    ...validateWildcardList(rule, 'apiVersions', path, 'API versions'),
    ...strings(rule, 'apiVersions').flatMap((version, at) =>
      version === '' ? [required(`${path}.apiVersions[${at}]`)] : [],
    ),
    ...validateResources(strings(rule, 'resources'), `${path}.resources`),
  ];
  const scope = text(rule.scope);
  if (scope !== '' && !SCOPES.some((known) => known === scope))
    errors.push(notSupported(`${path}.scope`, scope, SCOPES));
  return errors;
}

/** A list that must not be empty, and holds nothing else when it holds `*`. */
function validateWildcardList(rule: JsonObject, name: string, path: string, what: string): FieldError[] {
  const values = strings(rule, name);
  const type = name === 'operations' ? 'admissionregistration.OperationType' : 'string';
  const field = `${path}.${name}`;
  if (values.length === 0) return [required(field)];
  return values.length > 1 && values.includes('*')
    ? [invalidValue(field, shown(goList(type, values)), `if '*' is present, must not specify other ${what}`)]
    : [];
}

// `pods`, `pods/log`, `pods/*`, `*/scale`, `*/*`, and `*` for all resources without their subresources.
function validateResources(resources: readonly string[], path: string): FieldError[] {
  if (resources.length === 0) return [required(path)];
  const errors = [
    ...resources.flatMap((resource, at) => (resource === '' ? [required(`${path}[${at}]`)] : [])),
    ...validateSubresources(resources, path),
  ];
  if (resources.length > 1 && resources.includes('*/*'))
    errors.push(invalidValue(path, resources, "if '*/*' is present, must not specify other resources"));
  const plain = resources.findLast((resource) => resource !== '' && !resource.includes('/'));
  if (resources.includes('*') && plain !== undefined && plain !== '*') {
    const why = "if '*' is present, must not specify other resources without subresources";
    errors.push(invalidValue(path, resources, why));
  }
  return errors;
}

function validateSubresources(resources: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  const wholeResources = new Set<string>();
  const wholeSubresources = new Set<string>();
  for (const [at, both] of resources.entries()) {
    const slash = both.indexOf('/');
    if (slash < 0) continue;
    const [resource, subresource] = [both.slice(0, slash), both.slice(slash + 1)];
    const refuse = (pattern: string): void => {
      const why = `if '${pattern}' is present, must not specify ${both}`;
      errors.push(invalidValue(`${path}[${at}]`, both, why));
    };
    if (wholeResources.has(resource)) refuse(`${resource}/*`);
    if (wholeSubresources.has(subresource)) refuse(`*/${subresource}`);
    if (subresource === '*') wholeResources.add(resource);
    if (resource === '*') wholeSubresources.add(subresource);
  }
  return errors;
}
