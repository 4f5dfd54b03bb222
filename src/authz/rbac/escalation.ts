import type { ApiObject } from '../../api/object-meta.ts';
import { equalExcept } from '../../object/equality.ts';
import type { UserInfo } from '../../request/api-request.ts';
import { joinErrors } from '../errors-text.ts';
import { compactRules, describeRule, quoteAll, uncoveredRules } from './coverage.ts';
import type { PolicyRule } from './policy.ts';
import type { HeldRules } from './rbac.ts';

/**
 * Nobody may hand out more than he has. Undefined when `wanted` is within what the user holds; else what a 403 says
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

/** What somebody must hold to write an aggregation rule, which may gather anything. */
export const FULL_AUTHORITY: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

export const AGGREGATION_REFUSED = 'must have cluster-admin privileges to use the aggregationRule';

const GC_FIELDS = ['ownerReferences', 'finalizers', 'managedFields'];

/** Whether an update does no more than let the object be collected later; that needs no rights of its own. */
export function changesOnlyGarbageCollection(object: ApiObject, old: ApiObject): boolean {
  return equalExcept(object, old, ['metadata']) && equalExcept(object.metadata, old.metadata, GC_FIELDS);
}
