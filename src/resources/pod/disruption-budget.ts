import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { forbidden, StatusError } from '../../api/status.ts';
import { fromLabelSelector, matchesLabels } from '../../object/label-selector.ts';
import { count, part, parts, text } from '../../object/parts.ts';
import type { ActionContext } from '../../registry/definition.ts';
import { hasCondition, timestamp } from './pod-conditions.ts';

const BUDGETS = { group: 'policy', resource: 'poddisruptionbudgets' };
/** More evictions than this that no controller has seen end are a sign that there is no controller. */
const MAX_DISRUPTED_PODS = 2000;

export interface Spent {
  readonly name: string;
  /** The pod was not ready, so nothing was taken from the budget. */
  readonly healthyWithout: boolean;
}

/**
 * Takes a pod from the budget that covers it; undefined when none does.
 * @throws StatusError 429 when there is nothing left to take
 */
export async function spendBudget(
  pod: ApiObject,
  context: ActionContext,
  dryRun: boolean,
): Promise<Spent | undefined> {
  const labels = pod.metadata.labels ?? {};
  const [budget, second] = (await context.list(BUDGETS, context.namespace)).filter((one) =>
    covers(one, labels),
  );
  if (budget === undefined) return undefined;
  if (second !== undefined) throw tooManyBudgets();
  const name = budget.metadata.name ?? '';
  if (!hasCondition(part(pod, 'status'), 'Ready') && isHealthyWithout(budget))
    return { name, healthyWithout: true };
  if (dryRun) spend(budget, context.name);
  else await context.modify(BUDGETS, context.namespace, name, (found) => spend(found, context.name));
  return { name, healthyWithout: false };
}

/** A budget without a selector covers nothing; an empty selector covers all. */
function covers(budget: ApiObject, labels: Readonly<Record<string, string>>): boolean {
  const { selector } = part(budget, 'spec');
  return selector !== undefined && matchesLabels(fromLabelSelector(part(budget, 'spec', 'selector')), labels);
}

function tooManyBudgets(): StatusError {
  const message =
    'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
  return new StatusError({ code: 500, reason: 'InternalError', message });
}

/** Whether the end of a pod that is not ready takes nothing from those who are. */
function isHealthyWithout(budget: ApiObject): boolean {
  if (part(budget, 'spec').unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy, desiredHealthy } = part(budget, 'status');
  return count(desiredHealthy) > 0 && count(currentHealthy) >= count(desiredHealthy);
}

function spend(budget: ApiObject, pod: string): ApiObject {
  const status = part(budget, 'status');
  const name = budget.metadata.name ?? '';
  const allowed = count(status.disruptionsAllowed);
  const disrupted = part(status, 'disruptedPods');
  if (count(status.observedGeneration) < (budget.metadata.generation ?? 0)) throw stillProcessing(name);
  if (allowed < 0) throw refused(name, 'pdb disruptions allowed is negative');
  if (Object.keys(disrupted).length > MAX_DISRUPTED_PODS)
    throw refused(name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  if (allowed === 0) {
    const { desiredHealthy, currentHealthy } = status;
    const numbers = `${count(desiredHealthy)} healthy pods and has ${count(currentHealthy)} currently`;
    throw violation(`The disruption budget ${name} needs ${numbers}`, undefined);
  }
  return {
    ...budget,
    status: {
      ...status,
      disruptionsAllowed: allowed - 1,
      disruptedPods: { ...disrupted, [pod]: timestamp() },
      ...(allowed === 1 ? { conditions: exhausted(status) } : {}),
    },
  };
}

const refused = (name: string, why: string): StatusError =>
  forbidden({ group: 'policy', resource: 'poddisruptionbudget' }, name, why);

/** The numbers are of an older budget, or of a pod that has changed since: ask again. */
export const stillProcessing = (name: string): StatusError =>
  violation(`The disruption budget ${name} is still being processed by the server.`, 10);

function violation(cause: string, retryAfterSeconds: number | undefined): StatusError {
  return new StatusError({
    code: 429,
    reason: 'TooManyRequests',
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: {
      causes: [{ reason: 'DisruptionBudget', message: cause }],
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
  });
}

function exhausted(status: JsonObject): JsonObject[] {
  const conditions = parts(status, 'conditions');
  const old = conditions.find(({ type }) => type === 'DisruptionAllowed');
  const next: JsonObject = {
    type: 'DisruptionAllowed',
    status: 'False',
    observedGeneration: status.observedGeneration ?? 0,
    lastTransitionTime: old?.status === 'False' ? text(old.lastTransitionTime) : timestamp(),
    reason: 'InsufficientPods',
    message: '',
  };
  return old === undefined ? [...conditions, next] : conditions.map((one) => (one === old ? next : one));
}
