import { beforeEach, expect, test } from 'vitest';
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

/** Why objects end: with their owner, their namespace, their node, or because fewer are wanted. */

const ANN = person('ann');
const COLLECTOR = controller('generic-garbage-collector');
const ENDING = { metadata: { deletionTimestamp: '2026-01-31T00:00:00Z' } };

let log: Script;
beforeEach(() => {
  log = new Script();
});

const map = (name: string, metadata = {}) => ({ kind: 'ConfigMap', metadata: { name, ...metadata } });

const causes = async (write: PastWrite): Promise<string[]> => chainOf(await log.why(write)).slice(1);

test('what the collector deletes answers the end of the owner with that uid', async () => {
  const owner = log.put(ANN, map('owner'));
  const owned = log.put(ANN, map('owned', controlledBy(owner)));
  const ended = log.remove(person('bob'), owner);
  const again = log.put(ANN, map('owner'));
  log.remove(ANN, again);
  expect(await causes(log.remove(COLLECTOR, owned))).toEqual([`${ended.revision} certain`]);
});

test('of several owners, the one that ended last counts, or who removed the reference to one that is there', async () => {
  const [a, b] = [log.put(ANN, map('a')), log.put(ANN, map('b'))];
  const both = { ownerReferences: [...controlledBy(a).ownerReferences, ...controlledBy(b).ownerReferences] };
  const owned = log.put(ANN, map('owned', both));
  const kept = log.put(ANN, map('kept', both));
  log.remove(ANN, b);
  const let_go = log.change(person('bob'), kept, { metadata: controlledBy(b) });
  const last = log.remove(ANN, a);
  const forgotten = log.remove(COLLECTOR, kept);

  expect(await causes(log.remove(COLLECTOR, owned))).toEqual([`${last.revision} certain`]);
  expect(await causes(forgotten)).toEqual([`${let_go.revision} certain`]);
});

test('a reference that the collector removes answers the end of that owner alone', async () => {
  const [a, b] = [log.put(ANN, map('a')), log.put(ANN, map('b'))];
  const both = { ownerReferences: [...controlledBy(a).ownerReferences, ...controlledBy(b).ownerReferences] };
  const owned = log.put(ANN, map('owned', both));
  const ended = log.remove(ANN, a);
  log.change(ANN, b, { data: { k: 'v' } });
  expect(await causes(log.change(COLLECTOR, owned, { metadata: controlledBy(b) }))).toEqual([
    `${ended.revision} certain`,
  ]);
});

test('what a controller does to an object that ends answers the request to delete it', async () => {
  const pod = log.put(ANN, { kind: 'Pod', metadata: { name: 'p', finalizers: ['a', 'b'] }, spec: {} });
  const asked = log.change(ANN, pod, ENDING);
  const first = log.change(controller('a'), pod, { metadata: { finalizers: ['b'] } });
  const last = log.remove(kubelet('n1'), pod);
  expect(await causes(first)).toEqual([`${asked.revision} certain`]);
  expect(await causes(last)).toEqual([`${asked.revision} certain`]);
});

test('what is in a namespace ends because that is to end', async () => {
  const space = log.put(ANN, { kind: 'Namespace', metadata: { name: 'default' } });
  const inside = log.put(ANN, map('inside'));
  const asked = log.change(person('bob'), space, ENDING);
  expect(await causes(log.remove(controller('namespace-controller'), inside))).toEqual([
    `${asked.revision} certain`,
  ]);
});

test('a pod is evicted because of its node', async () => {
  const node = log.put(kubelet('n1'), { kind: 'Node', metadata: { name: 'n1' }, spec: {} });
  const other = log.put(kubelet('n2'), { kind: 'Node', metadata: { name: 'n2' }, spec: {} });
  const pod = log.put(ANN, { kind: 'Pod', metadata: { name: 'p' }, spec: { nodeName: 'n1' } });
  const tainted = log.change(ANN, node, { spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } });
  log.change(ANN, other, { spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } });
  log.change(kubelet('n1'), node, { status: { images: [] } });
  expect(await causes(log.change(controller('taint-eviction-controller'), pod, ENDING))).toEqual([
    `${tainted.revision} likely`,
  ]);
});

test('a finished Job is deleted because it has finished', async () => {
  const job = log.put(ANN, { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' }, spec: {} });
  const done = log.change(ANN, job, { status: { conditions: [{ type: 'Complete', status: 'True' }] } });
  log.change(ANN, job, { metadata: { labels: { a: 'b' } } });
  expect(await causes(log.remove(controller('ttl-after-finished-controller'), job))).toEqual([
    `${done.revision} likely`,
  ]);
});

test('a pod that was not deleted by its owner does not answer the owner', async () => {
  const set = log.put(ANN, {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 's' },
    spec: { replicas: 3 },
  });
  const pod = (name: string) =>
    log.put(controller('replicaset-controller'), {
      kind: 'Pod',
      metadata: { name, ...controlledBy(set) },
      spec: {},
    });
  const pods = ['a', 'b', 'c'].map(pod);
  const smaller = log.change(ANN, set, { spec: { replicas: 2 } });
  const [a, b, c] = pods.map((made, at) =>
    log.change(
      [controller('replicaset-controller'), SCHEDULER, operator('descheduler')][at] ?? ANN,
      made,
      ENDING,
    ),
  );
  if (a === undefined || b === undefined || c === undefined) throw new Error('there are three');
  expect(await causes(a)).toEqual([`${smaller.revision} likely`]);
  expect(await log.why(b)).toMatchObject({ unknown: expect.stringContaining('higher priority') });
  expect(await log.why(c)).toMatchObject({ unknown: expect.stringContaining('of its own') });
});

test('an owner that ended before the history that is kept is said to be older, with where that begins', async () => {
  const owner = log.put(ANN, map('owner'));
  const owned = log.put(ANN, map('owned', controlledBy(owner)));
  log.remove(ANN, owner);
  const ended = log.remove(COLLECTOR, owned);
  const why = await log.why(ended, { past: () => log.past({ rows: 10, from: ended.revision }) });
  expect(why).toMatchObject({
    links: [{ write: ended }],
    unknown: `The end of its owner, ConfigMap owner with uid ${owner.uid}, is older than the history that is kept, which begins with revision ${ended.revision}.`,
  });
});
