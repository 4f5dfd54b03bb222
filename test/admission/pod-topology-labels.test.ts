import { describe, expect, test } from 'vitest';
import { podTopologyLabels } from '../../src/admission/plugins/pod-topology-labels.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { attributesOf, FakeCluster, toObject } from '../kit/admission.ts';

const ZONE = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';
const cluster = new FakeCluster({
  nodes: [
    { metadata: { name: 'node-1', labels: { [ZONE]: 'z1', [REGION]: 'r1', other: 'o' } } },
    { metadata: { name: 'plain', labels: { other: 'o' } } },
  ],
});
const plugin = podTopologyLabels.create({ objects: cluster, isFeatureOn: () => true });

async function labelsOf(manifest: JsonObject, subresource = ''): Promise<unknown> {
  const object = toObject(manifest);
  await plugin?.mutate?.(attributesOf('pods', { object, subresource }));
  return object.metadata.labels;
}

describe('labels of the node', () => {
  const onNode = (name: string, kind = 'Node') => ({ target: { kind, name } });
  test.each([
    ['a binding to it', onNode('node-1'), { [ZONE]: 'z1', [REGION]: 'r1' }],
    [
      'a binding with a label of its own',
      { ...onNode('node-1'), metadata: { labels: { [ZONE]: 'mine' } } },
      { [ZONE]: 'z1', [REGION]: 'r1' },
    ],
    ['a binding to a node without them', onNode('plain'), undefined],
    ['a binding to a node that is not there', onNode('gone'), undefined],
    ['a binding to something else', onNode('node-1', ''), undefined],
  ])('%s', async (_, binding, labels) => {
    expect(await labelsOf(binding, 'binding')).toEqual(labels);
  });

  test.each([
    ['a pod that is placed', { spec: { nodeName: 'node-1' } }, { [ZONE]: 'z1', [REGION]: 'r1' }],
    ['a pod that is not', { spec: {} }, undefined],
  ])('%s', async (_, pod, labels) => {
    expect(await labelsOf(pod)).toEqual(labels);
  });

  test('not without the gate', () => {
    expect(podTopologyLabels.create({ objects: cluster, isFeatureOn: () => false })).toBeUndefined();
  });
});
