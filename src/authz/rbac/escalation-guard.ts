import type { ApiObject } from '../../api/object-meta.ts';
import { forbidden, notFound } from '../../api/status.ts';
import type { ClusterRole, RoleBinding } from '../../api/types/rbac/v1.ts';
import type { UserInfo } from '../../request/api-request.ts';
import { type Authorizer, isMaster } from '../authorizer.ts';
import {
  AGGREGATION_REFUSED,
  changesOnlyGarbageCollection,
  escalation,
  FULL_AUTHORITY,
} from './escalation.ts';
import { canonicalRules, type PolicyRule, RBAC_GROUP, type RoleRef, toRoleRef } from './policy.ts';
import type { HeldRules } from './rbac.ts';

/** The source of rules: the RBAC engine, even if it is not in the chain. */
export interface RuleSource {
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
}

/**
 * Checks a create or update of a role for escalation and of a binding for the right to bind. Members of system:masters pass, and
 * users with the verb `escalate` on the role or `bind` on the bound one; others must hold the rules themselves (Kubernetes:
 * pkg/registry/rbac/<resource>/policybased).
 */
export class EscalationGuard {
  readonly #authorizer: Authorizer;
  readonly #source: RuleSource;

  constructor(authorizer: Authorizer, source: RuleSource) {
    this.#authorizer = authorizer;
    this.#source = source;
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
    const rules = this.#source.rulesOf(roleRef, write.namespace);
    if (rules === undefined) {
      throw notFound({ group: RBAC_GROUP, resource: `${roleRef.kind.toLowerCase()}s` }, roleRef.name);
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
    const resource = kind === 'Role' ? 'roles' : 'clusterroles';
    return this.#may(user, 'bind', { resource, namespace, name });
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

const isHarmless = ({ object, old }: RbacWrite): boolean =>
  old !== undefined && changesOnlyGarbageCollection(object, old);

const rulesIn = ({ rules }: ClusterRole): readonly PolicyRule[] => canonicalRules(rules ?? []);
const roleRefIn = ({ roleRef }: RoleBinding): RoleRef => toRoleRef(roleRef);

const aggregates = ({ aggregationRule }: ClusterRole): boolean =>
  (aggregationRule?.clusterRoleSelectors ?? []).length > 0;
