import type { ClusterRole, PolicyRule } from '../../api/types/rbac/v1.ts';
import { equal } from '../../object/equality.ts';
import { fromLabelSelector, matchesLabels } from '../../object/selectors.ts';

/** The fields of a ClusterRole that aggregation needs. */
export type AggregatedRole = Pick<ClusterRole, 'metadata' | 'rules' | 'aggregationRule'>;

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
