import { describe, expect, test } from 'vitest';
import { defaultGates, type Gates } from '../../src/api/feature-gates.ts';
import type { ResourceOf } from '../../src/api/names.ts';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { conflict, MODIFIED, notFound, StatusError } from '../../src/api/status.ts';
import { objectAt } from '../../src/object/json-values.ts';
import type { ActionContext } from '../../src/registry/resource-definition.ts';
import { pods } from '../../src/resources/pod/definition.ts';
import { created } from '../kit/manifests.ts';
import { NO_TOKENS } from '../kit/tokens.ts';
import { varyAll } from '../kit/variations.ts';
import { SMALL } from './pod-manifests.ts';

const PODS = { group: '', resource: 'pods' };

/** A cluster of one pod and some budgets, that remembers what was done to them. */
class OnePod implements ActionContext {
  readonly name = 'it';
  readonly namespace = 'default';
  readonly dryRun = false;
  readonly tokens = NO_TOKENS;
  readonly warn = () => {};
  readonly annotate = () => {};
  isOn: Gates = defaultGates;
  removed: JsonObject | undefined;
  pod: ApiObject;
  budgets: ApiObject[];
  /** The pod is written to by others before each of this many updates. */
  disturbances = 0;

  constructor(pod: ApiObject, budgets: readonly JsonObject[] = []) {
    this.pod = { ...pod, metadata: { ...pod.metadata, uid: 'u', resourceVersion: '7' } };
    this.budgets = budgets.map((budget, at) => ({
      kind: 'PodDisruptionBudget',
      apiVersion: 'policy/v1',
      metadata: { name: `budget-${at}`, generation: 1 },
      ...budget,
    }));
  }

  async update(change: (object: ApiObject) => ApiObject): Promise<ApiObject> {
    if (this.disturbances > 0) {
      this.disturbances -= 1;
      this.pod.metadata.resourceVersion = String(Number(this.pod.metadata.resourceVersion) + 1);
    }
    const changed = change(structuredClone(this.pod));
    if (changed.metadata.resourceVersion !== this.pod.metadata.resourceVersion)
      throw conflict(PODS, this.name, MODIFIED);
    this.pod = changed;
    return this.pod;
  }

  async remove(options: JsonObject): Promise<ApiObject> {
    this.removed = options;
    return this.pod;
  }

  async get<T extends ApiObject>(): Promise<T> {
    return structuredClone(this.pod) as T;
  }

  async find<T extends ApiObject>(): Promise<T | undefined> {
    return this.get<T>();
  }

  async list<T extends ApiObject>(): Promise<T[]> {
    return this.budgets as T[];
  }

  async modify<T extends ApiObject>(
    resource: ResourceOf<T>,
    _namespace: string,
    name: string,
    change: (object: T) => T,
  ): Promise<T> {
    const at = this.budgets.findIndex(({ metadata }) => metadata.name === name);
    const found = this.budgets[at];
    if (found === undefined) throw notFound(resource, name);
    const changed = change(structuredClone(found) as T);
    this.budgets[at] = changed;
    return changed;
  }
}

function act(name: string, context: OnePod, body: JsonObject) {
  const action = pods.subresources.find((one) => one.name === name);
  if (action?.access !== 'action') throw new Error(`pods have no action ${name}`);
  return action.create({ kind: '', apiVersion: '', metadata: { name: 'it' }, ...body }, context);
}

const podWith = (changes: JsonObject, status: JsonObject = {}): ApiObject => ({
  ...created(pods, varyAll(SMALL, changes)),
  status,
});

async function refusal(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof StatusError ? `${error.status.code} ${error.status.message}` : String(error);
}

describe('a binding', () => {
  const target = { kind: 'Node', name: 'node-1' };

  test('places a pod, says so in a condition, and brings annotations along', async () => {
    const context = new OnePod(podWith({}, { phase: 'Pending' }));
    await act('binding', context, { target, metadata: { name: 'it', annotations: { a: 'b' } } });
    expect(context.pod.spec).toMatchObject({ nodeName: 'node-1' });
    expect(context.pod.metadata.annotations).toEqual({ a: 'b' });
    expect(objectAt(context.pod, 'status').conditions).toMatchObject([
      { type: 'PodScheduled', status: 'True' },
    ]);
  });

  test.each([
    ['PodTopologyLabelsAdmission', { labels: { app: 'web', zone: 'new' }, nominatedNodeName: 'node-2' }],
    ['ClearingNominatedNodeNameAfterBinding', { labels: { app: 'web', zone: 'old' } }],
    ['', { labels: { app: 'web', zone: 'old' }, nominatedNodeName: 'node-2' }],
  ])('with the gate %s: which labels it brings, and whether the nominated node stays', async (on, left) => {
    const pod = podWith({}, { phase: 'Pending', nominatedNodeName: 'node-2' });
    pod.metadata.labels = { app: 'web', zone: 'old' };
    const context = new OnePod(pod);
    context.isOn = (gate) => gate === on;
    await act('binding', context, { target, metadata: { name: 'it', labels: { zone: 'new' } } });
    const { nominatedNodeName } = objectAt(context.pod, 'status');
    const found = {
      labels: context.pod.metadata.labels,
      ...(nominatedNodeName === undefined ? {} : { nominatedNodeName }),
    };
    expect(found).toEqual(left);
  });

  const CONFLICT = '409 Operation cannot be fulfilled on pods/binding "it": pod it';
  test.each<[string, JsonObject, JsonObject, string]>([
    ['a pod twice', { 'spec.nodeName': 'a' }, { target }, `${CONFLICT} is already assigned to node "a"`],
    [
      'a pod that is gated',
      { 'spec.schedulingGates': [{ name: 'a' }] },
      { target },
      `${CONFLICT} has non-empty .spec.schedulingGates`,
    ],
    ['a pod nowhere', {}, { target: {} }, '422 Binding "it" is invalid: target.name: Required value'],
    [
      'a pod on what is no node',
      {},
      { target: { kind: 'Pod', name: 'a' } },
      '422 Binding "it" is invalid: target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
    ],
    [
      'another pod',
      {},
      { target, metadata: { name: 'other' } },
      '400 name in URL does not match name in Binding object',
    ],
  ])('cannot place %s', async (_, changes, body, message) => {
    expect(await refusal(act('binding', new OnePod(podWith(changes)), body))).toBe(message);
  });
});

describe('an eviction', () => {
  const LABELS = { 'metadata.labels': { app: 'web' } };
  const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  const budget = (status: JsonObject, spec: JsonObject = {}): JsonObject => ({
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
    status: { observedGeneration: 1, ...status },
  });
  const VIOLATED = "429 Cannot evict pod as it would violate the pod's disruption budget.";

  test('marks the pod and deletes it', async () => {
    const context = new OnePod(podWith(LABELS, ready));
    const deleteOptions = { gracePeriodSeconds: 5 };
    expect(await act('eviction', context, { deleteOptions })).toMatchObject({ code: 201 });
    expect(context.removed).toEqual({ gracePeriodSeconds: 5, preconditions: {} });
    expect(objectAt(context.pod, 'status').conditions).toMatchObject([
      { type: 'Ready' },
      { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' },
    ]);
  });

  test('takes the pod from its budget, and says when that is empty', async () => {
    const context = new OnePod(podWith(LABELS, ready), [budget({ disruptionsAllowed: 1 })]);
    await act('eviction', context, {});
    expect(context.budgets[0]?.status).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { it: expect.any(String) },
      conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
    });
  });

  test('is refused when the budget is spent, and why', async () => {
    const status = { disruptionsAllowed: 0, desiredHealthy: 2, currentHealthy: 2 };
    const context = new OnePod(podWith(LABELS, ready), [budget(status)]);
    const error = await act('eviction', context, {}).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      status: {
        code: 429,
        details: {
          causes: [
            {
              reason: 'DisruptionBudget',
              message: 'The disruption budget budget-0 needs 2 healthy pods and has 2 currently',
            },
          ],
        },
      },
    });
    expect(context.removed).toBeUndefined();
  });

  test.each<[string, JsonObject[], string]>([
    ['numbers that are out of date', [budget({ disruptionsAllowed: 1, observedGeneration: 0 })], VIOLATED],
    [
      'a negative budget',
      [budget({ disruptionsAllowed: -1 })],
      '403 poddisruptionbudget.policy "budget-0" is forbidden: pdb disruptions allowed is negative',
    ],
    [
      'two budgets',
      [budget({ disruptionsAllowed: 1 }), budget({ disruptionsAllowed: 1 })],
      '500 This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    ],
  ])('is refused for %s', async (_, budgets, message) => {
    expect(await refusal(act('eviction', new OnePod(podWith(LABELS, ready), budgets), {}))).toBe(message);
  });

  test.each<[string, JsonObject, JsonObject]>([
    ['has not begun', { phase: 'Pending' }, budget({ disruptionsAllowed: 0 })],
    ['has ended', { phase: 'Succeeded' }, budget({ disruptionsAllowed: 0 })],
    [
      'is not ready while enough others are',
      { phase: 'Running' },
      budget({ disruptionsAllowed: 0, desiredHealthy: 2, currentHealthy: 2 }),
    ],
    [
      'is not ready where that is enough',
      { phase: 'Running' },
      budget({ disruptionsAllowed: 0, desiredHealthy: 2 }, { unhealthyPodEvictionPolicy: 'AlwaysAllow' }),
    ],
    ['is covered by no budget', ready, { spec: {}, status: { disruptionsAllowed: 0 } }],
  ])('costs nothing for a pod that %s', async (_, status, one) => {
    const context = new OnePod(podWith(LABELS, status), [one]);
    await act('eviction', context, {});
    expect(context.removed).toBeDefined();
    expect(objectAt(context.budgets[0], 'status').disruptionsAllowed).toBe(0);
  });

  test('looks again when a pod that was free to go has changed', async () => {
    const context = new OnePod(podWith(LABELS, { phase: 'Pending' }));
    context.disturbances = 2;
    await act('eviction', context, {});
    expect(context.removed).toBeDefined();
  });

  test('asks to come back when a pod that was not ready has changed', async () => {
    const status = { disruptionsAllowed: 0, desiredHealthy: 1, currentHealthy: 1 };
    const context = new OnePod(podWith(LABELS, { phase: 'Running' }), [budget(status)]);
    context.disturbances = 1;
    expect(await refusal(act('eviction', context, {}))).toBe(VIOLATED);
  });

  test('holds the caller to the version it asked for', async () => {
    const deleteOptions = { preconditions: { resourceVersion: '6' } };
    const context = new OnePod(podWith(LABELS, ready));
    expect(await refusal(act('eviction', context, { deleteOptions }))).toBe(
      `409 ${conflict(PODS, 'it', MODIFIED).message}`,
    );
  });

  test('changes nothing in a dry run', async () => {
    const context = new OnePod(podWith(LABELS, ready), [budget({ disruptionsAllowed: 1 })]);
    await act('eviction', context, { deleteOptions: { dryRun: ['All'] } });
    expect(context.removed).toEqual({ dryRun: ['All'] });
    expect(objectAt(context.budgets[0], 'status').disruptionsAllowed).toBe(1);
    expect(objectAt(context.pod, 'status').conditions).toHaveLength(1);
  });
});
