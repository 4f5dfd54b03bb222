import type {
  NamedRuleWithOperations,
  RuleWithOperations,
} from '../../api/types/admissionregistration/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { goList, shown } from '../../object/go-value.ts';
import { mustBeName, mustBeOneOf } from '../rules/names.ts';

/** What an admission webhook or policy is asked about: operations on resources. */

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];

/** A rule that may also name objects. */
export function validateNamedRule(at: FieldPath, rule: NamedRuleWithOperations): void {
  const seen = new Set<string>();
  for (const [path, name] of at.field('resourceNames').each(rule.resourceNames)) {
    mustBeName(path, name, 'path-segment');
    if (seen.has(name)) path.duplicate(name);
    seen.add(name);
  }
  validateRule(at, rule);
}

export function validateRule(at: FieldPath, rule: RuleWithOperations): void {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope = '' } = rule;
  const type = 'admissionregistration.OperationType';
  mustBeAllOrSome(at.field('operations'), operations, { items: 'operations', type });
  for (const [path, operation] of at.field('operations').each(operations))
    mustBeOneOf(path, operation, OPERATIONS);
  mustBeAllOrSome(at.field('apiGroups'), apiGroups, { items: 'API groups' });
  mustBeAllOrSome(at.field('apiVersions'), apiVersions, { items: 'API versions' });
  for (const [path, version] of at.field('apiVersions').each(apiVersions))
    if (version === '') path.required();
  validateResources(at.field('resources'), resources);
  if (scope !== '') mustBeOneOf(at.field('scope'), scope, SCOPES);
}

interface ListWords {
  /** What the list holds, in the plural. */
  readonly items: string;
  /** The type of an item in Go. */
  readonly type?: string;
}

/** A list that is not empty, and holds nothing else when it holds `*`. */
function mustBeAllOrSome(
  at: FieldPath,
  values: readonly string[],
  { items, type = 'string' }: ListWords,
): void {
  if (values.length === 0) at.required();
  else if (values.length > 1 && values.includes('*'))
    at.invalid(shown(goList(type, values)), `if '*' is present, must not specify other ${items}`);
}

// `pods`, `pods/log`, `pods/*`, `*/scale`, `*/*`, and `*` for all resources without their subresources.
function validateResources(at: FieldPath, resources: readonly string[]): void {
  if (resources.length === 0) at.required();
  for (const [path, resource] of at.each(resources)) if (resource === '') path.required();
  validateSubresources(at, resources);
  if (resources.length > 1 && resources.includes('*/*'))
    at.invalid(resources, "if '*/*' is present, must not specify other resources");
  const plain = resources.findLast((resource) => resource !== '' && !resource.includes('/'));
  if (resources.includes('*') && plain !== undefined && plain !== '*')
    at.invalid(resources, "if '*' is present, must not specify other resources without subresources");
}

function validateSubresources(at: FieldPath, resources: readonly string[]): void {
  const wholeResources = new Set<string>();
  const wholeSubresources = new Set<string>();
  for (const [path, both] of at.each(resources)) {
    const slash = both.indexOf('/');
    if (slash < 0) continue;
    const [resource, subresource] = [both.slice(0, slash), both.slice(slash + 1)];
    if (wholeResources.has(resource))
      path.invalid(both, `if '${resource}/*' is present, must not specify ${both}`);
    if (wholeSubresources.has(subresource))
      path.invalid(both, `if '*/${subresource}' is present, must not specify ${both}`);
    if (subresource === '*') wholeResources.add(resource);
    if (resource === '*') wholeSubresources.add(subresource);
  }
}
