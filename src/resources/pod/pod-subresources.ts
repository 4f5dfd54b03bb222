import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { conflict, tooManyRequests } from '../../api/status.ts';
import { fromLabelSelector, matchesLabels } from '../../object/label-selector.ts';
import type { ActionContext, ActionSubresource, ViewSubresource } from '../../registry/definition.ts';
import { count, part, parts, text } from '../cells.ts';

const PODS = { group: '', resource: 'pods' };
const BUDGETS = { group: 'policy', resource: 'poddisruptionbudgets' };
const SUCCESS: JsonObject = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

/** Debugging containers are added to a running pod here; nothing else of it can be changed so. */
export const ephemeralContainers: ViewSubresource = {
  access: 'view',
  name: 'ephemeralcontainers',
  served: { group: '', version: 'v1', kind: 'Pod' },
  type: 'core/v1.Pod',
  verbs: ['get', 'patch', 'update'],
  read: (pod) => pod,
  write: (view, old) => ({
    ...old,
    metadata: view.metadata,
    spec: { ...part(old, 'spec'), ephemeralContainers: parts(part(view, 'spec'), 'ephemeralContainers') },
  }),
};

/** A scheduler places a pod: once, and never again. */
export const binding: ActionSubresource = {
  access: 'action',
  name: 'binding',
  served: { group: '', version: 'v1', kind: 'Binding' },
  type: 'core/v1.Binding',
  verbs: ['create'],
  create: async (body, context) => {
    const target = text(part(body, 'target').name);
    await context.update((pod) => bind(pod, target, body));
    return { code: 201, object: SUCCESS };
  },
};

function bind(pod: ApiObject, node: string, body: ApiObject): ApiObject {
  const name = pod.metadata.name ?? '';
  const spec = part(pod, 'spec');
  if (pod.metadata.deletionTimestamp !== undefined) {
    throw conflict(
      { group: '', resource: 'pods/binding' },
      name,
      `pod ${name} is being deleted, cannot be assigned to a host`,
    );
  }
  if (text(spec.nodeName) !== '') {
    throw conflict(
      { group: '', resource: 'pods/binding' },
      name,
      `pod ${name} is already assigned to node "${text(spec.nodeName)}"`,
    );
  }
  const status = part(pod, 'status');
  const others = parts(status, 'conditions').filter(({ type }) => type !== 'PodScheduled');
  const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now() };
  return {
    ...pod,
    metadata: { ...pod.metadata, ...annotationsOf(pod, body) },
    spec: { ...spec, nodeName: node },
    status: { ...status, conditions: [...others, scheduled] },
  };
}

function annotationsOf(pod: ApiObject, body: ApiObject): Partial<ApiObject['metadata']> {
  const annotations = { ...pod.metadata.annotations, ...body.metadata?.annotations };
  return Object.keys(annotations).length === 0 ? {} : { annotations };
}

const now = (): string => `${new Date().toISOString().slice(0, 19)}Z`;

/** Deletes a pod if the disruption budgets that cover it allow, and counts it against them. */
export const eviction: ActionSubresource = {
  access: 'action',
  name: 'eviction',
  served: { group: 'policy', version: 'v1', kind: 'Eviction' },
  type: 'policy/v1.Eviction',
  verbs: ['create'],
  create: async (body, context) => {
    const pod = await context.get(PODS, context.namespace, context.name);
    if (!hasEnded(pod)) await spendBudget(pod, context);
    await context.remove(part(body, 'deleteOptions'));
    return { code: 201, object: SUCCESS };
  },
};

function hasEnded(pod: ApiObject): boolean {
  const phase = text(part(pod, 'status').phase);
  return ['Succeeded', 'Failed', 'Pending'].includes(phase) || pod.metadata.deletionTimestamp !== undefined;
}

async function spendBudget(pod: ApiObject, context: ActionContext): Promise<void> {
  const labels = pod.metadata.labels ?? {};
  const budgets = (await context.list(BUDGETS, context.namespace)).filter((budget) =>
    matchesLabels(fromLabelSelector(part(budget, 'spec', 'selector')), labels),
  );
  const [budget, second] = budgets;
  if (budget === undefined) return;
  if (second !== undefined) {
    throw tooManyRequests(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
      0,
    );
  }
  const name = budget.metadata.name ?? '';
  await context.modify(BUDGETS, context.namespace, name, (found) => spend(found, pod.metadata.name ?? ''));
}

function spend(budget: ApiObject, pod: string): ApiObject {
  const status = part(budget, 'status');
  const allowed = count(status.disruptionsAllowed);
  if (count(status.observedGeneration) < (budget.metadata.generation ?? 0)) {
    throw tooManyRequests(
      "Cannot evict pod as it would violate the pod's disruption budget: the disruption budget is still being processed by the server.",
      10,
    );
  }
  if (allowed <= 0) {
    throw tooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0);
  }
  const disruptedPods = { ...part(status, 'disruptedPods'), [pod]: now() };
  return { ...budget, status: { ...status, disruptionsAllowed: allowed - 1, disruptedPods } };
}
