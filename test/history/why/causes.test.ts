import { expect, test } from 'vitest';
import { causesAmong } from '../../../src/history/why/causes.ts';
import type { PastWrite } from '../../../src/history/why/past.ts';
import { toRow } from './scripted-log.ts';
import { controlledBy, controller, kubelet, operator, person, SCHEDULER, Script } from './scripted-past.ts';

test('rows that lie side by side are the causes of each other, as far as they are there and more than possible', async () => {
  const log = new Script();
  const ann = person('ann');
  const set = log.put(ann, {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 's' },
    spec: { replicas: 1 },
  });
  const pod = log.put(controller('replicaset-controller'), {
    kind: 'Pod',
    metadata: { name: 'p', ...controlledBy(set) },
    spec: {},
  });
  const bound = log.change(SCHEDULER, pod, { spec: { nodeName: 'n1' } });
  const runs = log.change(kubelet('n1'), pod, { status: { phase: 'Running' } });
  log.change(operator('labels'), pod, { metadata: { labels: { a: 'b' } } });

  const among = async (...writes: readonly PastWrite[]) =>
    [...(await causesAmong(writes.map(toRow), log.past().find))].sort();
  expect(await among(...log.writes)).toEqual([
    [pod.revision, set.revision],
    [bound.revision, pod.revision],
    [runs.revision, bound.revision],
  ]);
  expect(await among(pod, runs)).toEqual([[runs.revision, pod.revision]]);
});
