import type { ResourceOf } from '../../api/names.ts';
import type { JsonObject } from '../../api/object-meta.ts';
import { badRequest, StatusError } from '../../api/status.ts';
import type { Pod } from '../../api/types/core/v1.ts';
import type { DeleteOptions } from '../../api/types/meta/v1.ts';
import type { Eviction } from '../../api/types/policy/v1.ts';
import type { ActionContext, ActionSubresource } from '../../registry/definition.ts';
import { withCondition } from './conditions.ts';
import { spendBudget, stillProcessing } from './disruption-budget.ts';

const PODS: ResourceOf<Pod> = { group: '', resource: 'pods' };
const SUCCESS: JsonObject = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
/** A pod that keeps changing while it is being evicted is looked at again this often. */
const ATTEMPTS = 5;

/** Deletes a pod if the disruption budgets that cover it allow, and counts it against them. */
export const eviction: ActionSubresource<Eviction, Pod> = {
  access: 'action',
  name: 'eviction',
  served: { group: 'policy', version: 'v1', kind: 'Eviction' },
  type: 'policy/v1.Eviction',
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
 * False when the pod was no longer what the decision was about, and another look may help.
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

/** Nothing is disrupted by the end of what does not run. */
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
  // What the new object carries is a precondition, checked again on fresher data before anyone is told that it fails.
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
