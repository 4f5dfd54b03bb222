import { beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import type { PastWrite } from '../../../src/history/why/past.ts';
import {
  chainOf,
  controlledBy,
  controller,
  kubelet,
  operator,
  person,
  SCHEDULER,
  Script,
} from './scripted-past.ts';

/** A rollout, from who applied it to what the kubelet says, among writes that a hasty answer would take for causes. */

const ANN = person('ann');
const DEPLOYMENTS = controller('deployment-controller');
const SETS = controller('replicaset-controller');

let log: Script;
beforeEach(() => {
  log = new Script();
});

const template = (image: string): JsonObject => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'web', image }] },
});

const deployment = (image: string, replicas = 2, name = 'web') => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: { replicas, template: template(image) },
});

function setOf(owner: PastWrite, hash: string, image: string, replicas = 2) {
  const { metadata, spec } = template(image) as { metadata: JsonObject; spec: JsonObject };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: `${owner.key.name}-${hash}`, ...controlledBy(owner) },
    spec: {
      replicas,
      template: { metadata: { ...metadata, labels: { app: 'web', 'pod-template-hash': hash } }, spec },
    },
  };
}

const podOf = (owner: PastWrite, suffix: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `${owner.key.name}-${suffix}`, ...controlledBy(owner) },
  spec: { containers: [{ name: 'web', image: 'web:1' }] },
});

const numbers = (...writes: readonly PastWrite[]): string[] => writes.map(({ revision }) => `${revision}`);

test('what the kubelet says of a pod goes back to who applied the Deployment', async () => {
  const applied = log.put(ANN, deployment('web:1'));
  const set = log.put(DEPLOYMENTS, setOf(applied, 'aaa', 'web:1'));
  const pod = log.put(SETS, podOf(set, 'x'));
  const bound = log.change(SCHEDULER, pod, { spec: { nodeName: 'n1' } });
  const runs = log.change(kubelet('n1'), pod, { status: { phase: 'Running' } });

  const why = await log.why(runs);
  expect(chainOf(why)).toEqual([
    `${runs.revision}`,
    `${bound.revision} likely`,
    `${pod.revision} certain`,
    `${set.revision} certain`,
    `${applied.revision} certain`,
  ]);
  expect(why.unknown).toBeUndefined();
  expect(why.links.at(-1)?.evidence[0]).toContain(`Deployment web with uid ${applied.uid}`);
});

test('what a person did is its own root', async () => {
  const applied = log.put(ANN, deployment('web:1'));
  const scaled = log.change(ANN, applied, { spec: { replicas: 5 } });
  expect(await log.why(scaled)).toEqual({ links: [{ write: scaled, evidence: [] }] });
});

test('a ReplicaSet answers the write whose template it has, not the newest, nor that of another Deployment', async () => {
  const first = log.put(ANN, deployment('web:1'));
  const second = log.put(ANN, deployment('web:2'));
  log.put(ANN, deployment('web:2', 2, 'other'));
  log.put(person('bob'), deployment('web:3'));
  const set = log.put(DEPLOYMENTS, setOf(first, 'bbb', 'web:2'));

  expect(chainOf(await log.why(set)).slice(1)).toEqual([`${second.revision} certain`]);
});

test('an owner is its uid: another object of its name explains nothing', async () => {
  const gone = log.put(ANN, deployment('web:1'));
  log.remove(ANN, gone);
  const again = log.put(person('bob'), deployment('web:1'));
  const old = log.put(DEPLOYMENTS, setOf(gone, 'aaa', 'web:1'));
  const now = log.put(DEPLOYMENTS, setOf(again, 'bbb', 'web:1'));

  expect(chainOf(await log.why(old)).slice(1)).toEqual([`${gone.revision} certain`]);
  expect(chainOf(await log.why(now)).slice(1)).toEqual([`${again.revision} certain`]);
});

test('the order is that of the revisions, with any difference of the clocks of servers', async () => {
  const early = Date.UTC(2020, 0, 1);
  const applied = log.put(ANN, deployment('web:1'), { atMs: Date.UTC(2030, 0, 1) });
  const set = log.put(DEPLOYMENTS, setOf(applied, 'aaa', 'web:1'), { atMs: early });
  const pod = log.put(SETS, podOf(set, 'x'), { atMs: early + 1 });
  log.put(ANN, deployment('web:2'), { atMs: early - 1 });

  expect(chainOf(await log.why(pod))).toEqual([
    `${pod.revision}`,
    `${set.revision} certain`,
    `${applied.revision} certain`,
  ]);
});

test('a ReplicaSet that is scaled says which number of its Deployment it follows', async () => {
  const applied = log.put(ANN, deployment('web:1'));
  const set = log.put(DEPLOYMENTS, setOf(applied, 'aaa', 'web:1'));
  const scaled = log.change(person('bob'), applied, { spec: { replicas: 7 } });
  log.change(ANN, applied, { spec: { minReadySeconds: 3 } });
  log.change(ANN, applied, { spec: { replicas: 4 } });
  const follows = log.change(DEPLOYMENTS, set, {
    metadata: { annotations: { 'deployment.kubernetes.io/desired-replicas': '7' } },
    spec: { replicas: 7 },
  });
  expect(chainOf(await log.why(follows)).slice(1)).toEqual([`${scaled.revision} certain`]);
});

test('the old ReplicaSet loses its pods because of the template that is rolled out', async () => {
  const applied = log.put(ANN, deployment('web:1'));
  const old = log.put(DEPLOYMENTS, setOf(applied, 'aaa', 'web:1'));
  const pod = log.put(SETS, podOf(old, 'x'));
  const rolled = log.put(person('bob'), deployment('web:2'));
  log.put(DEPLOYMENTS, setOf(applied, 'bbb', 'web:2'));
  const smaller = log.change(DEPLOYMENTS, old, { spec: { replicas: 1 } });
  const asked = log.change(SETS, pod, { metadata: { deletionTimestamp: '2026-01-31T00:00:00Z' } });
  const gone = log.remove(kubelet('n1'), pod);

  expect(chainOf(await log.why(gone))).toEqual([
    `${gone.revision}`,
    `${asked.revision} certain`,
    `${smaller.revision} likely`,
    `${rolled.revision} likely`,
  ]);
});

test('a pod that comes after its ReplicaSet was whole replaces the one that a user deleted', async () => {
  const applied = log.put(ANN, deployment('web:1', 1));
  const set = log.put(DEPLOYMENTS, setOf(applied, 'aaa', 'web:1', 1));
  const first = log.put(SETS, podOf(set, 'x'));
  log.change(SETS, set, { status: { replicas: 1, observedGeneration: 1 } });
  const deleted = log.remove(person('bob'), first);
  const second = log.put(SETS, podOf(set, 'y'));

  expect(chainOf(await log.why(first)).slice(1)).toEqual([
    `${set.revision} certain`,
    `${applied.revision} certain`,
  ]);
  expect(chainOf(await log.why(second)).slice(1)).toEqual([`${deleted.revision} likely`]);
});

test('a status of a generation answers the write that made this generation', async () => {
  const applied = log.put(ANN, deployment('web:1'));
  const second = log.put(person('bob'), deployment('web:2'));
  log.put(ANN, deployment('web:3'));
  const status = log.change(DEPLOYMENTS, applied, { status: { observedGeneration: 2 } });
  expect(chainOf(await log.why(status)).slice(1)).toEqual([`${second.revision} certain`]);
});

test('a status that counts pods answers the newest of them that changed in what is counted', async () => {
  const applied = log.put(ANN, deployment('web:1', 1));
  const set = log.put(DEPLOYMENTS, setOf(applied, 'aaa', 'web:1', 1));
  const pod = log.put(SETS, podOf(set, 'x'));
  const other = log.put(SETS, podOf(applied, 'decoy'));
  log.change(SETS, set, { status: { observedGeneration: 1 } });
  log.change(SCHEDULER, pod, {
    spec: { nodeName: 'n1' },
    status: { conditions: [{ type: 'PodScheduled', status: 'True' }] },
  });
  const ready = (status: string) => ({ status: { conditions: [{ type: 'Ready', status }] } });
  const runs = log.change(kubelet('n1'), pod, ready('True'));
  log.change(kubelet('n1'), pod, { status: { podIP: '10.0.0.1' } });
  log.change(kubelet('n1'), other, ready('True'));
  const there = log.change(SETS, set, { status: { replicas: 1 } });
  const counted = log.change(SETS, set, { status: { readyReplicas: 1 } });

  expect(chainOf(await log.why(there)).slice(1, 2)).toEqual([`${pod.revision} likely`]);
  const why = await log.why(counted);
  expect(chainOf(why).slice(1, 2)).toEqual([`${runs.revision} likely`]);
  expect(why.links.map(({ write }) => `${write.revision}`).slice(-2)).toEqual(numbers(set, applied));
});

test('the write of an unknown client is explained by owners, as possible, and is a root where it has none', async () => {
  const widget = log.put(ANN, {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'w' },
    spec: { size: 1 },
  });
  const OPERATOR = operator('widgets');
  const made = log.put(OPERATOR, { kind: 'ConfigMap', metadata: { name: 'w', ...controlledBy(widget) } });
  const own = log.put(OPERATOR, { kind: 'ConfigMap', metadata: { name: 'free' } });
  const status = log.change(OPERATOR, widget, { status: { observedGeneration: 1 } });

  expect(chainOf(await log.why(made)).slice(1)).toEqual([`${widget.revision} possible`]);
  expect(chainOf(await log.why(status)).slice(1)).toEqual([`${widget.revision} certain`]);
  expect(await log.why(own)).toMatchObject({
    links: [{ write: own }],
    unknown: expect.stringContaining('of its own'),
  });
});

test('what an operator changes without owning it may answer the object that refers to it', async () => {
  const OPERATOR = operator('scaler');
  const applied = log.put(ANN, deployment('web:1', 0));
  const widget = (name: string, target: string) =>
    log.put(person('bob'), {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name },
      spec: { scaleTargetRef: { name: target } },
    });
  const right = widget('a', 'web');
  const decoy = widget('b', 'other');
  const status = log.change(OPERATOR, right, { status: { active: true } });
  log.change(OPERATOR, decoy, { status: { active: true } });
  const scaled = log.change(OPERATOR, applied, { spec: { replicas: 1 } });
  const alone = log.change(operator('other'), applied, { spec: { replicas: 2 } });

  expect(chainOf(await log.why(scaled)).slice(1)).toEqual([
    `${status.revision} possible`,
    `${right.revision} possible`,
  ]);
  expect(await log.why(alone)).toMatchObject({
    links: [{ write: alone }],
    unknown: expect.stringContaining('of its own'),
  });
});

test('kubectl as a service account is the act of a person', async () => {
  const pipeline = { ...person(''), user: 'system:serviceaccount:ci:deployer' };
  const applied = log.put(pipeline, deployment('web:1'));
  const why = await log.why(log.put(DEPLOYMENTS, setOf(applied, 'aaa', 'web:1')));
  expect(chainOf(why).slice(1)).toEqual([`${applied.revision} certain`]);
  expect(why.unknown).toBeUndefined();
});
