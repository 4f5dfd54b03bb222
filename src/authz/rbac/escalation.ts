import type { Minor } from '../../api/emulation.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import { badRequest, forbidden, notFound, unknownError } from '../../api/status.ts';
import type { ClusterRole, RoleBinding } from '../../api/types/rbac/v1.ts';
import { equalExcept } from '../../object/equality.ts';
import { goQuote } from '../../object/go-value.ts';
import { checkName } from '../../object/text-formats.ts';
import type { UserInfo } from '../../request/api-request.ts';
import { type Authorizer, isMaster, joinErrors } from '../authorizer.ts';
import type { HeldRules } from './rbac.ts';
import {
  canonicalRules,
  type PolicyRule,
  RBAC_GROUP,
  type RoleRef,
  toRoleRef,
  urlCovers,
} from './role-rules.ts';

/**
 * Users may grant only rights that they hold. Undefined when the user holds `wanted`; otherwise the message of the 403
 * (Kubernetes: pkg/registry/rbac/validation, ConfirmNoEscalation).
 */
export function escalation(
  user: UserInfo,
  held: HeldRules,
  wanted: readonly PolicyRule[],
): string | undefined {
  const missing = uncoveredRules(held.rules, wanted);
  if (missing.length === 0) return undefined;
  const lines = [...new Set(compactRules(missing).map(describeRule))].sort();
  const who = `user ${JSON.stringify(user.username)} (groups=${quoteAll(user.groups)})`;
  const error = joinErrors(held.errors);
  const unresolved = error === undefined ? '' : `; resolution errors: [${error}]`;
  return `${who} is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}${unresolved}`;
}

/** The rights that a user must hold to write an aggregation rule, which may aggregate anything. */
const FULL_AUTHORITY: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

const AGGREGATION_REFUSED = 'must have cluster-admin privileges to use the aggregationRule';

const GC_FIELDS = ['ownerReferences', 'finalizers', 'managedFields'];

/** Whether an update changes only fields of garbage collection, which needs no rights to the rules. */
function changesOnlyGarbageCollection(object: ApiObject, old: ApiObject): boolean {
  return equalExcept(object, old, ['metadata']) && equalExcept(object.metadata, old.metadata, GC_FIELDS);
}

/** The source of rules: the RBAC engine, even if it is not in the chain. */
interface RuleSource {
  rulesFor(user: UserInfo, namespace: string): HeldRules;
  rulesOf(roleRef: RoleRef, bindingNamespace: string): readonly PolicyRule[] | undefined;
}

/** A write of a role or binding. */
export interface RbacWrite {
  readonly user: UserInfo;
  readonly resource: 'roles' | 'clusterroles' | 'rolebindings' | 'clusterrolebindings';
  /** '' for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  /** The name in the URL: '' for a POST, so that a rule for some names does not allow it. */
  readonly requestName: string;
  readonly object: ApiObject;
  /** Undefined for a create. */
  readonly old: ApiObject | undefined;
  /** A role of the namespace that is not there, where a dry run would have made it. */
  readonly foreseenRole?: (name: string) => ApiObject | undefined;
}

/**
 * Checks a create or update of a role for escalation and of a binding for the right to bind. Members of system:masters pass, and
 * users with the verb `escalate` on the role or `bind` on the bound one; others must hold the rules themselves (Kubernetes:
 * pkg/registry/rbac/<resource>/policybased).
 */
export class EscalationGuard {
  readonly #authorizer: Authorizer;
  readonly #source: RuleSource;
  readonly #namesBinding: boolean;

  /** `minor`: the emulated version. Since 1.32 the 404 for a missing role names the resource of the binding. */
  constructor(authorizer: Authorizer, source: RuleSource, minor: Minor) {
    this.#authorizer = authorizer;
    this.#source = source;
    this.#namesBinding = minor >= 32;
  }

  /** @throws StatusError 403 for an escalation, 404 for a binding to a role that does not exist */
  async check(write: RbacWrite): Promise<void> {
    if (isMaster(write.user)) return;
    if (write.resource === 'roles' || write.resource === 'clusterroles') await this.#checkRole(write);
    else await this.#checkBinding(write);
  }

  async #checkRole(write: RbacWrite): Promise<void> {
    if (await this.#mayEscalate(write)) return;
    if (isHarmless(write)) return;
    this.#confirm(write, rulesIn(write.object));
    if (write.resource === 'roles') return;
    if (!aggregates(write.object) && !(write.old !== undefined && aggregates(write.old))) return;
    if (this.#escalation(write, FULL_AUTHORITY) === undefined) return;
    throw forbidden({ group: RBAC_GROUP, resource: write.resource }, write.name, AGGREGATION_REFUSED);
  }

  async #checkBinding(write: RbacWrite): Promise<void> {
    if (isHarmless(write)) return;
    const roleRef = roleRefIn(write.object);
    if (await this.#mayBind(write, roleRef)) return;
    assertReadable(roleRef, write.namespace);
    const foreseen = roleRef.kind === 'Role' ? write.foreseenRole?.(roleRef.name) : undefined;
    const rules =
      this.#source.rulesOf(roleRef, write.namespace) ??
      (foreseen === undefined ? undefined : rulesIn(foreseen));
    if (rules === undefined) {
      const resource = this.#namesBinding ? write.resource : rolesOf(roleRef.kind);
      throw notFound({ group: RBAC_GROUP, resource }, roleRef.name);
    }
    this.#confirm(write, rules);
  }

  #confirm(write: RbacWrite, wanted: readonly PolicyRule[]): void {
    const why = this.#escalation(write, wanted);
    if (why !== undefined) throw forbidden({ group: RBAC_GROUP, resource: write.resource }, write.name, why);
  }

  #escalation({ user, namespace }: RbacWrite, wanted: readonly PolicyRule[]): string | undefined {
    return escalation(user, this.#source.rulesFor(user, namespace), wanted);
  }

  #mayEscalate({ user, resource, namespace, requestName }: RbacWrite): Promise<boolean> {
    return this.#may(user, 'escalate', { resource, namespace, name: requestName });
  }

  async #mayBind({ user, namespace }: RbacWrite, { kind, name }: RoleRef): Promise<boolean> {
    if (kind !== 'ClusterRole' && kind !== 'Role') return false;
    return this.#may(user, 'bind', { resource: rolesOf(kind), namespace, name });
  }

  async #may(
    user: UserInfo,
    verb: string,
    asked: { resource: string; namespace: string; name: string },
  ): Promise<boolean> {
    const target = { group: RBAC_GROUP, version: '*', ...asked, subresource: '', subpath: '' };
    const { decision } = await this.#authorizer.authorize({ user, verb, target, path: '' });
    return decision === 'allow';
  }
}

const rolesOf = (kind: string): string => (kind === 'Role' ? 'roles' : 'clusterroles');

/** The reference is not validated yet. @throws StatusError as reading the role would */
function assertReadable({ kind, name }: RoleRef, namespace: string): void {
  if (kind !== 'ClusterRole' && kind !== 'Role')
    throw unknownError(`unsupported role reference kind: ${goQuote(kind)}`);
  if (kind === 'Role' && namespace === '') throw badRequest('Namespace parameter required.');
  if (name === '') throw badRequest('Name parameter required.');
  const problems = checkName(name, 'path-segment');
  if (problems.length > 0)
    throw badRequest(`Name parameter invalid: ${goQuote(name)}: ${problems.join(';')}`);
}

const isHarmless = ({ object, old }: RbacWrite): boolean =>
  old !== undefined && changesOnlyGarbageCollection(object, old);

const rulesIn = ({ rules }: ClusterRole): readonly PolicyRule[] => canonicalRules(rules ?? []);
const roleRefIn = ({ roleRef }: RoleBinding): RoleRef => toRoleRef(roleRef);

const aggregates = ({ aggregationRule }: ClusterRole): boolean =>
  (aggregationRule?.clusterRoleSelectors ?? []).length > 0;

/**
 * Whether rules grant at least the rights of other rules (Kubernetes: component-helpers, auth/rbac/validation). The wanted rules
 * are broken down to one verb on one resource each; one of the held rules must cover such a piece as a whole.
 */

/** The pieces of `wanted` that `held` does not cover. */
export function uncoveredRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(breakDown).filter((piece) => !held.some((rule) => covers(rule, piece)));
}

/** A rule as pieces of one verb and one resource (and one name), or one verb and one URL. */
function breakDown(rule: PolicyRule): PolicyRule[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const named = resourceNames.length === 0 ? [{}] : resourceNames.map((name) => ({ resourceNames: [name] }));
  const ofResources = apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        named.map((names) => ({ apiGroups: [group], resources: [resource], verbs: [verb], ...names })),
      ),
    ),
  );
  const ofUrls = nonResourceURLs.flatMap((url) =>
    verbs.map((verb) => ({ nonResourceURLs: [url], verbs: [verb] })),
  );
  return [...ofResources, ...ofUrls];
}

function covers(owner: PolicyRule, piece: PolicyRule): boolean {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = owner;
  return (
    hasAll(owner.verbs, piece.verbs, '*') &&
    hasAll(apiGroups, piece.apiGroups ?? [], '*') &&
    (piece.resources ?? []).every((resource) => coversResource(resources, resource)) &&
    coversNames(resourceNames, piece.resourceNames ?? []) &&
    (piece.nonResourceURLs ?? []).every((path) => nonResourceURLs.some((url) => urlCovers(url, path)))
  );
}

const hasAll = (held: readonly string[], wanted: readonly string[], wildcard: string): boolean =>
  held.includes(wildcard) || wanted.every((value) => held.includes(value));

function coversResource(held: readonly string[], resource: string): boolean {
  if (held.includes('*') || held.includes(resource)) return true;
  const slash = resource.indexOf('/');
  return slash >= 0 && held.includes(`*${resource.slice(slash)}`);
}

/** A rule for some names does not cover other names, and therefore not all names. */
function coversNames(held: readonly string[], wanted: readonly string[]): boolean {
  if (held.length === 0) return true;
  return wanted.length > 0 && wanted.every((name) => held.includes(name));
}

/** Joins pieces on the same resource and name into one rule with all their verbs; other pieces stay. */
export function compactRules(pieces: readonly PolicyRule[]): PolicyRule[] {
  const compact: PolicyRule[] = [];
  const simple = new Map<string, PolicyRule>();
  for (const piece of pieces) {
    const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = piece;
    const alone = apiGroups.length === 1 && resources.length === 1 && resourceNames.length <= 1;
    if (!alone || nonResourceURLs.length > 0) {
      compact.push(piece);
      continue;
    }
    const key = JSON.stringify([apiGroups, resources, resourceNames]);
    const known = simple.get(key);
    simple.set(key, known === undefined ? piece : { ...known, verbs: [...known.verbs, ...piece.verbs] });
  }
  return [...compact, ...simple.values()];
}

/** `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}` */
export function describeRule(rule: PolicyRule): string {
  const parts = [
    part('APIGroups', rule.apiGroups),
    part('Resources', rule.resources),
    part('NonResourceURLs', rule.nonResourceURLs),
    part('ResourceNames', rule.resourceNames),
    part('Verbs', rule.verbs),
  ];
  return `{${parts.filter((text) => text !== '').join(', ')}}`;
}

const part = (name: string, values: readonly string[] = []): string =>
  values.length === 0 ? '' : `${name}:${quoteAll(values)}`;

/** A list in Go's %q: `["a" "b"]`. */
const quoteAll = (values: readonly string[]): string =>
  `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
