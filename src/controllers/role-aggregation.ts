import type { ResourceOf } from '../api/names.ts';
import type { ClusterRole, PolicyRule } from '../api/types/rbac/v1.ts';
import { RBAC_GROUP } from '../authz/rbac/role-rules.ts';
import { equal } from '../object/equality.ts';
import { fromLabelSelector, matchesLabels } from '../object/selectors.ts';
import { keepDoing } from '../util/pause.ts';
import type { Client } from '../verbs/client/client.ts';

const ROLES: ResourceOf<ClusterRole> = { group: RBAC_GROUP, resource: 'clusterroles' };
const RETRY_MS = 1000;

/**
 * Fills ClusterRoles that aggregate the rules of others (admin, edit, view). Without a controller manager they would stay empty;
 * with one, both compute the same rules.
 */
export class RoleAggregation {
  readonly #client: Client;
  readonly #onError: (error: unknown) => void;

  constructor(options: { client: Client; onError: (error: unknown) => void }) {
    this.#client = options.client.as('clusterrole-aggregation-controller');
    this.#onError = options.onError;
  }

  async run(signal: AbortSignal): Promise<void> {
    await keepDoing(() => this.#follow(signal), signal, { retryMs: RETRY_MS, onError: this.#onError });
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for await (const _ of this.#client.changes(ROLES, signal)) await this.aggregate();
  }

  /** Repeats until nothing changes, because aggregated roles may be aggregated again. */
  async aggregate(): Promise<void> {
    const roles = await this.#client.list(ROLES, {}, 'cached');
    for (const role of roles) {
      const rules = aggregatedRules(role, roles);
      if (rules === undefined) continue;
      const { name = '' } = role.metadata;
      await this.#client.apply(ROLES, { name }, { rules });
    }
  }
}

/** The fields of a ClusterRole that aggregation needs. */
type AggregatedRole = Pick<ClusterRole, 'metadata' | 'rules' | 'aggregationRule'>;

/**
 * The rules that a ClusterRole with an aggregation rule must have: the rules of every other role that one of its selectors
 * selects, in the order of selectors and names, without duplicates. Undefined when the role has them already, or has no
 * aggregation rule (Kubernetes: pkg/controller/clusterroleaggregation). Aggregated roles may be aggregated again, so the caller
 * repeats this until nothing changes.
 */
export function aggregatedRules(
  role: AggregatedRole,
  all: readonly AggregatedRole[],
): PolicyRule[] | undefined {
  if (role.aggregationRule === undefined) return undefined;
  const others = all.filter(({ metadata }) => metadata.name !== role.metadata.name).sort(byName);
  const rules: PolicyRule[] = [];
  for (const selector of role.aggregationRule.clusterRoleSelectors ?? []) {
    const requirements = fromLabelSelector(selector);
    for (const { metadata, rules: offered } of others) {
      if (!matchesLabels(requirements, metadata.labels ?? {})) continue;
      for (const rule of offered ?? []) if (!rules.some((known) => equal(known, rule))) rules.push(rule);
    }
  }
  return equal(rules, role.rules ?? []) ? undefined : rules;
}

function byName(
  { metadata: { name: a = '' } }: AggregatedRole,
  { metadata: { name: b = '' } }: AggregatedRole,
) {
  return a < b ? -1 : a > b ? 1 : 0;
}
