import type { ApiObject } from '../../api/object-meta.ts';
import { equalExcept } from '../../object/equality.ts';
import type { UserInfo } from '../../request/api-request.ts';
import { joinErrors } from '../errors-text.ts';
import { compactRules, describeRule, quoteAll, uncoveredRules } from './coverage.ts';
import type { PolicyRule } from './policy.ts';
import type { HeldRules } from './rbac.ts';

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
export const FULL_AUTHORITY: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

export const AGGREGATION_REFUSED = 'must have cluster-admin privileges to use the aggregationRule';

const GC_FIELDS = ['ownerReferences', 'finalizers', 'managedFields'];

/** Whether an update changes only fields of garbage collection, which needs no rights to the rules. */
export function changesOnlyGarbageCollection(object: ApiObject, old: ApiObject): boolean {
  return equalExcept(object, old, ['metadata']) && equalExcept(object.metadata, old.metadata, GC_FIELDS);
}
