import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, invalidValue, notSupported, required } from '../../object/field-errors.ts';
import { checkName } from '../../object/formats.ts';
import { parts } from '../../object/parts.ts';
import { strings } from '../validation/values.ts';
import { validateSubject } from './validate-subject.ts';

/** Which requests a flow schema is for: whose, and on what. */

const VERBS = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'proxy',
  'update',
  'watch',
] as const;

export function validateRules(rules: readonly JsonObject[], path: string): FieldError[] {
  return rules.flatMap((rule, at) => validateRule(rule, `${path}[${at}]`));
}

function validateRule(rule: JsonObject, path: string): FieldError[] {
  const subjects = parts(rule, 'subjects');
  const resourceRules = parts(rule, 'resourceRules');
  const urlRules = parts(rule, 'nonResourceRules');
  const errors: FieldError[] = [];
  if (subjects.length === 0)
    errors.push(required(`${path}.subjects`, 'subjects must contain at least one value'));
  if (resourceRules.length === 0 && urlRules.length === 0)
    errors.push(required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty'));
  return [
    ...errors,
    ...subjects.flatMap((subject, at) => validateSubject(subject, `${path}.subjects[${at}]`)),
    ...resourceRules.flatMap((one, at) => validateResourceRule(one, `${path}.resourceRules[${at}]`)),
    ...urlRules.flatMap((one, at) => validateUrlRule(one, `${path}.nonResourceRules[${at}]`)),
  ];
}

function validateResourceRule(rule: JsonObject, path: string): FieldError[] {
  return [
    ...validateVerbs(rule, path),
    ...validateList(rule, 'apiGroups', path, [
      'resource rules must supply at least one api group',
      'api groups',
    ]),
    ...validateList(rule, 'resources', path, [
      'resource rules must supply at least one resource',
      'resources',
    ]),
    ...validateNamespaces(rule, `${path}.namespaces`),
  ];
}

function validateUrlRule(rule: JsonObject, path: string): FieldError[] {
  const errors = [
    ...validateVerbs(rule, path),
    ...validateList(rule, 'nonResourceURLs', path, [
      'nonResourceURLs must contain at least one value',
      'non-resource URLs',
    ]),
  ];
  const urls = strings(rule, 'nonResourceURLs');
  if (urls.includes('*')) return errors;
  return [...errors, ...urls.flatMap((url, at) => validateUrl(url, `${path}.nonResourceURLs[${at}]`))];
}

/** `texts`: what to say of an empty list, and what must not stand beside `*`. */
function validateList(
  rule: JsonObject,
  name: string,
  path: string,
  [empty, others]: readonly [string, string],
): FieldError[] {
  const values = strings(rule, name);
  if (values.length === 0) return [required(`${path}.${name}`, empty)];
  return values.length > 1 && values.includes('*')
    ? [invalidValue(`${path}.${name}`, values, `if '*' is present, must not specify other ${others}`)]
    : [];
}

function validateVerbs(rule: JsonObject, path: string): FieldError[] {
  const verbs = strings(rule, 'verbs');
  if (
    verbs.length > 0 &&
    !verbs.includes('*') &&
    !verbs.every((verb) => VERBS.some((known) => known === verb))
  )
    return [notSupported(`${path}.verbs`, verbs, VERBS)];
  return validateList(rule, 'verbs', path, ['verbs must contain at least one value', 'verbs']);
}

function validateNamespaces(rule: JsonObject, path: string): FieldError[] {
  const namespaces = strings(rule, 'namespaces');
  if (namespaces.length === 0) {
    const why = 'resource rules that are not cluster scoped must supply at least one namespace';
    return rule.clusterScope === true ? [] : [required(path, why)];
  }
  if (namespaces.includes('*')) {
    const why = "if '*' is present, must not specify other namespaces";
    return namespaces.length > 1 ? [invalidValue(path, namespaces, why)] : [];
  }
  return namespaces.flatMap((namespace, at) =>
    eachInvalid(
      `${path}[${at}]`,
      namespace,
      checkName(namespace, 'dns-label').map(
        (why) => `each member of this list must be '*' or a DNS-1123 label; ${why}`,
      ),
    ),
  );
}

/** A `*` may only stand at the end, after a slash. */
function validateUrl(url: string, path: string): FieldError[] {
  const refuse = (why: string): FieldError[] => [invalidValue(path, url, why)];
  if (url === '') return refuse('must not be empty');
  if (!url.startsWith('/')) return refuse('must start with slash');
  if (url.includes(' ')) return refuse('must not contain white-space');
  if (url.includes('//')) return refuse('must not contain double slash');
  const star = url.indexOf('*');
  return star < 0 || (star === url.length - 1 && url.endsWith('/*'))
    ? []
    : refuse('wildcard can only do suffix matching');
}
