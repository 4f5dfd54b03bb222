import type { ResourceOf } from '../../api/names.ts';
import { forbidden, StatusError } from '../../api/status.ts';
import type { Pod } from '../../api/types/core/v1.ts';
import type { Condition } from '../../api/types/meta/v1.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../api/types/policy/v1.ts';
import { fromLabelSelector, matchesLabels } from '../../object/selectors.ts';
import type { ActionContext } from '../../registry/definition.ts';
import { hasCondition, timestamp } from './conditions.ts';

const BUDGETS: ResourceOf<PodDisruptionBudget> = { group: 'policy', resource: 'poddisruptionbudgets' };
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
  pod: Pod,
  context: ActionContext<Pod>,
  dryRun: boolean,
): Promise<Spent | undefined> {
  const labels = pod.metadata.labels ?? {};
  const [budget, second] = (await context.list(BUDGETS, context.namespace)).filter((one) =>
    covers(one, labels),
  );
  if (budget === undefined) return undefined;
  if (second !== undefined) throw tooManyBudgets();
  const name = budget.metadata.name ?? '';
  if (!hasCondition(pod.status ?? {}, 'Ready') && isHealthyWithout(budget))
    return { name, healthyWithout: true };
  if (dryRun) spend(budget, context.name);
  else await context.modify(BUDGETS, context.namespace, name, (found) => spend(found, context.name));
  return { name, healthyWithout: false };
}

/** A budget without a selector covers nothing; an empty selector covers all. */
function covers({ spec }: PodDisruptionBudget, labels: Readonly<Record<string, string>>): boolean {
  return spec?.selector !== undefined && matchesLabels(fromLabelSelector(spec.selector), labels);
}

function tooManyBudgets(): StatusError {
  const message =
    'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
  return new StatusError({ code: 500, reason: 'InternalError', message });
}

/** Whether the end of a pod that is not ready takes nothing from those who are. */
function isHealthyWithout({ spec = {}, status = {} }: PodDisruptionBudget): boolean {
  if (spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = status;
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy;
}

function spend(budget: PodDisruptionBudget, pod: string): PodDisruptionBudget {
  const { metadata, status = {} } = budget;
  const { name = '' } = metadata;
  const { disruptionsAllowed: allowed = 0, disruptedPods: disrupted = {}, observedGeneration = 0 } = status;
  if (observedGeneration < (metadata.generation ?? 0)) throw stillProcessing(name);
  if (allowed < 0) throw refused(name, 'pdb disruptions allowed is negative');
  if (Object.keys(disrupted).length > MAX_DISRUPTED_PODS)
    throw refused(name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  if (allowed === 0) {
    const { desiredHealthy = 0, currentHealthy = 0 } = status;
    const numbers = `${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
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

function exhausted({ conditions = [], observedGeneration = 0 }: PodDisruptionBudgetStatus): Condition[] {
  const old = conditions.find(({ type }) => type === 'DisruptionAllowed');
  const next: Condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    observedGeneration,
    lastTransitionTime: old?.status === 'False' ? (old.lastTransitionTime ?? null) : timestamp(),
    reason: 'InsufficientPods',
    message: '',
  };
  return old === undefined ? [...conditions, next] : conditions.map((one) => (one === old ? next : one));
}
