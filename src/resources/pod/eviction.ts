import { PODS } from '../../api/known-resources.ts';
import type { ResourceOf } from '../../api/names.ts';
import type { JsonObject } from '../../api/object-meta.ts';
import { badRequest, forbidden, StatusError } from '../../api/status.ts';
import type { Pod } from '../../api/types/core/v1.ts';
import type { Condition, DeleteOptions } from '../../api/types/meta/v1.ts';
import type { Eviction, PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../api/types/policy/v1.ts';
import { fromLabelSelector, matchesLabels } from '../../object/selectors.ts';
import type { ActionContext, ActionSubresource } from '../../registry/resource-definition.ts';
import { hasCondition, timestamp, withCondition } from './pod-conditions.ts';

const SUCCESS: JsonObject = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
/** Attempts to evict a pod that keeps changing. */
const ATTEMPTS = 5;

/** Deletes a pod if the disruption budgets that cover it allow, and counts it against them. */
export const eviction: ActionSubresource<Eviction, Pod> = {
  access: 'action',
  name: 'eviction',
  served: { group: 'policy', version: 'v1', kind: 'Eviction' },
  type: 'policy/v1.Eviction',
  // Old clients drain nodes with it, and Kubernetes still reads it.
  alsoFrom: ['policy/v1beta1'],
  verbs: ['create'],
  create: async (body, context) => {
    if (body.metadata.name !== context.name)
      throw badRequest('name in URL does not match name in Eviction object');
    const { deleteOptions: options = {} } = body;
    for (let attempt = 1; ; attempt += 1) {
      if (await evict(context, options, attempt === ATTEMPTS)) return { code: 201, object: SUCCESS };
    }
  },
};

/**
 * False: the pod has changed since the decision, and a retry may help.
 * @throws StatusError
 */
async function evict(context: ActionContext<Pod>, options: DeleteOptions, last: boolean): Promise<boolean> {
  const pod = await context.get(PODS, context.namespace, context.name);
  const dryRun = context.dryRun || (options.dryRun ?? []).length > 0;
  const expected = options.preconditions?.resourceVersion;
  const free = needsNoBudget(pod);
  const spent = free ? undefined : await spendBudget(pod, context, dryRun);
  // A decision that rests on the state of the pod holds for this version of it only.
  const guarded = free ? !hasEnded(pod) : spent?.healthyWithout === true;
  const version = expected ?? (guarded ? pod.metadata.resourceVersion : undefined);
  try {
    await removePod(context, options, { version: version ?? '', dryRun });
    return true;
  } catch (error) {
    const changed = error instanceof StatusError && error.status.reason === 'Conflict';
    if (!changed || expected !== undefined || !guarded) throw error;
    if (spent !== undefined) throw stillProcessing(spent.name);
    if (last) throw error;
    return false;
  }
}

/** Pods that are not running need no budget. */
function needsNoBudget(pod: Pod): boolean {
  return hasEnded(pod) || pod.status?.phase === 'Pending';
}

function hasEnded({ metadata, status }: Pod): boolean {
  return (
    status?.phase === 'Succeeded' || status?.phase === 'Failed' || metadata.deletionTimestamp !== undefined
  );
}

const EVICTED = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'EvictionByEvictionAPI',
  message: 'Eviction API: evicting',
} as const;

async function removePod(
  context: ActionContext<Pod>,
  options: DeleteOptions,
  { version, dryRun }: { version: string; dryRun: boolean },
): Promise<void> {
  if (dryRun) {
    await context.remove({ ...options, dryRun: ['All'] });
    return;
  }
  const { resourceVersion: _, ...preconditions } = options.preconditions ?? {};
  const { uid = '' } = preconditions;
  // The new object has preconditions, which are checked on fresh data before the answer is an error.
  await context.update((pod) => ({
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(uid === '' ? {} : { uid }),
      ...(version === '' ? {} : { resourceVersion: version }),
    },
    status: withCondition(pod.status ?? {}, EVICTED),
  }));
  // The version is the one before the condition was set, and was checked with it.
  await context.remove({ ...options, preconditions });
}

const BUDGETS: ResourceOf<PodDisruptionBudget> = { group: 'policy', resource: 'poddisruptionbudgets' };
/** More evictions than this that no controller has seen end are a sign that there is no controller. */
const MAX_DISRUPTED_PODS = 2000;

interface Spent {
  readonly name: string;
  /** The pod was not ready, so that the budget was not used. */
  readonly healthyWithout: boolean;
}

/**
 * Takes a pod from the budget that covers it; undefined: none does.
 * @throws StatusError 429 when the budget is exhausted
 */
async function spendBudget(
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

/** A budget without a selector covers no pods; an empty selector covers all. */
function covers({ spec }: PodDisruptionBudget, labels: Readonly<Record<string, string>>): boolean {
  return spec?.selector !== undefined && matchesLabels(fromLabelSelector(spec.selector), labels);
}

function tooManyBudgets(): StatusError {
  const message =
    'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
  return new StatusError({ code: 500, reason: 'InternalError', message });
}

/** Whether an unready pod can go without fewer ready ones being left. */
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
const stillProcessing = (name: string): StatusError =>
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
