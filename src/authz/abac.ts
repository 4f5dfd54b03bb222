import { readFileSync } from 'node:fs';
import { canonicalGroup } from '../api/dialect.ts';
import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { UserInfo } from '../request/api-request.ts';
import { errorText } from '../util/error-text.ts';
import {
  ALLOW,
  type AuthorizationAttributes,
  type Authorizer,
  type Rules,
  type Verdict,
} from './authorizer.ts';
import { urlCovers } from './rbac/role-rules.ts';

/**
 * Mode ABAC: a file of policies, one JSON object per line; the first match allows. Skips blank lines and lines that begin with
 * #.
 *
 *   {"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"ann","namespace":"*","resource":"pods","readonly":true}}
 *   {"user":"ann"}          the old form, without a version: absent fields match everything
 */

interface Policy {
  readonly user: string;
  readonly group: string;
  readonly readonly: boolean;
  readonly namespace: string;
  readonly apiGroup: string;
  readonly resource: string;
  readonly nonResourcePath: string;
}

const AUTHENTICATED = 'system:authenticated';
const VERSIONS = ['kubernetes.io', 'cluster.io'].map((domain) => `abac.authorization.${domain}/v1beta1`);
const READ_VERBS = ['get', 'list', 'watch'];
const NOT_MATCHED: Verdict = { decision: 'no-opinion', reason: 'No policy matched.' };

/** Read once, as Kubernetes does. @throws Error that names the line */
export function readPolicyFile(path: string): Authorizer {
  return createAbac(readFileSync(path, 'utf8'), path);
}

/** `path` is for messages. @throws Error that names the line */
export function createAbac(text: string, path: string): Authorizer {
  const policies = text.split('\n').flatMap((line, at) => parseLine(line, `${path}, line ${at + 1}`));
  return {
    authorize: (attributes) => (policies.some((policy) => matches(policy, attributes)) ? ALLOW : NOT_MATCHED),
    rules: (user, namespace = '') => rulesOf(policies, user, namespace),
  };
}

function parseLine(line: string, place: string): Policy[] {
  const trimmed = line.trim();
  if (trimmed === '' || trimmed.startsWith('#')) return [];
  try {
    return [toPolicy(JSON.parse(trimmed))];
  } catch (error) {
    const why = errorText(error);
    throw new Error(`error reading policy file ${place}: ${trimmed}: ${why}`);
  }
}

function toPolicy(value: JsonValue): Policy {
  const { apiVersion, kind, spec, ...unversioned } = asObject(value);
  if (apiVersion === undefined || kind === undefined) return fromUnversioned(unversioned);
  if (!VERSIONS.includes(String(apiVersion)) || kind !== 'Policy') {
    throw new Error(`no kind ${JSON.stringify(kind)} is known for version ${JSON.stringify(apiVersion)}`);
  }
  return everyone(readFields(asObject(spec ?? {})));
}

/** Unknown fields are ignored, as in Kubernetes. */
function readFields(fields: JsonObject): Policy {
  const text = (name: string): string => {
    const value = fields[name] ?? '';
    if (typeof value !== 'string') throw new Error(`${name} must be a string`);
    return value;
  };
  const { readonly = false } = fields;
  if (typeof readonly !== 'boolean') throw new Error('readonly must be a boolean');
  return {
    user: text('user'),
    group: text('group'),
    readonly,
    namespace: text('namespace'),
    apiGroup: canonicalGroup(text('apiGroup')).group,
    resource: text('resource'),
    nonResourcePath: text('nonResourcePath'),
  };
}

/** The form without a version: an absent subject means every authenticated user, an absent namespace or resource means all. */
function fromUnversioned(fields: JsonObject): Policy {
  const { user, group, readonly, namespace, resource } = readFields(fields);
  const all = namespace === '' && resource === '';
  return everyone({
    user,
    group: user === '' && group === '' ? AUTHENTICATED : group,
    readonly,
    namespace: namespace === '' ? '*' : namespace,
    apiGroup: '*',
    resource: resource === '' ? '*' : resource,
    nonResourcePath: all ? '*' : '',
  });
}

/** A star means every authenticated user. */
const everyone = (policy: Policy): Policy =>
  policy.user === '*' || policy.group === '*' ? { ...policy, user: '', group: AUTHENTICATED } : policy;

function asObject(value: JsonValue): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new Error('expected an object');
}

function matches(policy: Policy, { user, verb, target, path }: AuthorizationAttributes): boolean {
  if (!matchesSubject(policy, user)) return false;
  if (policy.readonly && !READ_VERBS.includes(verb)) return false;
  if (target === undefined) return urlCovers(policy.nonResourcePath, path);
  return (
    isOrAll(policy.namespace, target.namespace) &&
    isOrAll(policy.resource, target.resource) &&
    isOrAll(policy.apiGroup, target.group)
  );
}

/** A policy with user and group needs both; one with neither matches no user. */
function matchesSubject({ user, group }: Policy, { username, groups }: UserInfo): boolean {
  if (user === '' && group === '') return false;
  return (user === '' || user === username) && (group === '' || groups.includes(group));
}

const isOrAll = (wanted: string, value: string): boolean => wanted === '*' || wanted === value;

function rulesOf(policies: readonly Policy[], user: UserInfo, namespace: string): Rules {
  const held = policies.filter(
    (policy) => matchesSubject(policy, user) && isOrAll(policy.namespace, namespace),
  );
  const verbsOf = ({ readonly }: Policy): readonly string[] => (readonly ? READ_VERBS : ['*']);
  return {
    resourceRules: held
      .filter(({ resource }) => resource !== '')
      .map((policy) => ({
        verbs: verbsOf(policy),
        apiGroups: [policy.apiGroup],
        resources: [policy.resource],
      })),
    nonResourceRules: held
      .filter(({ nonResourcePath }) => nonResourcePath !== '')
      .map((policy) => ({ verbs: verbsOf(policy), nonResourceURLs: [policy.nonResourcePath] })),
  };
}
