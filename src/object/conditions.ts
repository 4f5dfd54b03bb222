/** Conditions in the status of an object: at most one of each type. */

export interface Condition {
  type?: string;
  status?: string;
  lastTransitionTime?: string | null;
  reason?: string;
  message?: string;
}

/** A condition without its time. */
export interface Finding {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/**
 * Returns the conditions with the finding. Returns the same list if it contains the finding already; a condition keeps its time
 * as long as it keeps its status.
 */
export function withCondition(
  conditions: readonly Condition[],
  found: Finding,
  time: string,
): readonly Condition[] {
  const before = conditions.find(({ type }) => type === found.type);
  if (before === undefined) return [...conditions, conditionSince(time, found)];
  const { status, reason, message, lastTransitionTime } = before;
  const isTimed = (lastTransitionTime ?? '') !== '';
  const isSame = status === found.status && reason === found.reason && message === found.message;
  if (isSame && isTimed) return conditions;
  const since = status === found.status && isTimed ? (lastTransitionTime ?? time) : time;
  return conditions.map((condition) => (condition === before ? conditionSince(since, found) : condition));
}

/** In the order in which Kubernetes writes the fields. */
const conditionSince = (
  lastTransitionTime: string,
  { type, status, reason, message }: Finding,
): Condition => ({ type, status, lastTransitionTime, reason, message });
