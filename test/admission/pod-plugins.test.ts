import { describe, expect, test } from 'vitest';
import { AdmissionChain } from '../../src/admission/admission.ts';
import { alwaysAdmitPlugin, alwaysDenyPlugin } from '../../src/admission/plugins/always.ts';
import { alwaysPullImagesPlugin, limitAntiAffinityPlugin } from '../../src/admission/plugins/pod-rules.ts';
import {
  extendedResourceToleration,
  taintNodesByCondition,
} from '../../src/admission/plugins/tolerations.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { attributesOf, pluginFrom, refusalOf, toObject } from '../kit/admission.ts';

const alwaysAdmit = pluginFrom(alwaysAdmitPlugin, {});
const alwaysDeny = pluginFrom(alwaysDenyPlugin, {});
const alwaysPullImages = pluginFrom(alwaysPullImagesPlugin, {});
const limitAntiAffinity = pluginFrom(limitAntiAffinityPlugin, {});
const tolerateExtendedResources = pluginFrom(extendedResourceToleration, {});
const taintNewNodes = pluginFrom(taintNodesByCondition, {});

const pod = (spec: JsonObject) => toObject({ spec });

describe('AlwaysPullImages', () => {
  const images = (policy: string, image = 'i'): JsonObject => ({
    initContainers: [{ name: 'i', image: 'i', imagePullPolicy: policy }],
    containers: [{ name: 'c', image, imagePullPolicy: policy }],
    volumes: [{ name: 'v', image: { reference: 'r', pullPolicy: policy } }],
  });

  test('new pods pull all their images', async () => {
    const object = pod(images('Never'));
    expect(await refusalOf(alwaysPullImages, attributesOf('pods', { object }))).toBeUndefined();
    expect(object.spec).toEqual(images('Always'));
  });

  test('an update is looked at only when it brings another image', async () => {
    const update = async (image: string) => {
      const object = pod(images('Never', image));
      const attributes = attributesOf('pods', { operation: 'UPDATE', object, old: pod(images('Never')) });
      expect(await refusalOf(alwaysPullImages, attributes)).toBeUndefined();
      return object.spec;
    };
    expect(await update('i')).toEqual(images('Never'));
    expect(await update('j')).toEqual(images('Always', 'j'));
  });

  test('other resources and subresources keep theirs', async () => {
    for (const attributes of [
      attributesOf('pods', { object: pod(images('Never')), subresource: 'status' }),
      attributesOf('podtemplates', { object: pod(images('Never')) }),
    ]) {
      expect(await refusalOf(alwaysPullImages, attributes)).toBeUndefined();
      expect(attributes.object?.spec).toEqual(images('Never'));
    }
  });

  test('a pod whose pull policy was set back is refused', () => {
    const why = (field: string): string =>
      `pods "it" is forbidden: spec.${field}: Unsupported value: "Never": supported values: "Always"`;
    expect(() => alwaysPullImages.validate?.(attributesOf('pods', { object: pod(images('Never')) }))).toThrow(
      `[${why('initContainers[0].imagePullPolicy')}, ${why('containers[0].imagePullPolicy')}, ${why('volumes[0].image.pullPolicy')}]`,
    );
  });
});

describe('ExtendedResourceToleration', () => {
  const asking = (...names: string[]): JsonObject => ({
    resources: { requests: Object.fromEntries(names.map((name) => [name, '1'])) },
  });
  const exists = (key: string): JsonObject => ({ key, operator: 'Exists', effect: 'NoSchedule' });

  test.each([
    ['nothing special', { containers: [asking('cpu', 'kubernetes.io/x')] }, undefined],
    ['a device', { containers: [asking('cpu', 'example.com/device-ek')] }, [exists('example.com/device-ek')]],
    [
      'devices of several containers, sorted',
      { containers: [asking('b.com/d'), asking('a.com/d')], initContainers: [asking('b.com/d')] },
      [exists('a.com/d'), exists('b.com/d')],
    ],
    [
      'a device beside other tolerations',
      { containers: [asking('a.com/d')], tolerations: [{ key: 'a.com/d', operator: 'Equal', value: 'v' }] },
      [{ key: 'a.com/d', operator: 'Equal', value: 'v' }, exists('a.com/d')],
    ],
    [
      'a device that is tolerated for a time',
      { containers: [asking('a.com/d')], tolerations: [{ ...exists('a.com/d'), tolerationSeconds: 1 }] },
      [exists('a.com/d')],
    ],
  ])('a pod that asks for %s', async (_, spec, tolerations) => {
    const object = pod(spec as JsonObject);
    expect(await refusalOf(tolerateExtendedResources, attributesOf('pods', { object }))).toBeUndefined();
    expect((object.spec as JsonObject).tolerations).toEqual(tolerations);
  });
});

describe('LimitPodHardAntiAffinityTopology', () => {
  const apart = (...keys: string[]): JsonObject => ({
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: keys.map((topologyKey) => ({ topologyKey })),
      },
    },
  });
  test.each([
    ['nothing', {}, undefined],
    ['no topology', apart(), undefined],
    ['nodes', apart('kubernetes.io/hostname'), undefined],
    ['zones', apart('kubernetes.io/hostname', 'zone'), 'zone'],
    ['an unnamed place', apart(''), ''],
  ])('a pod that keeps others off %s', async (_, spec, key) => {
    expect(await refusalOf(limitAntiAffinity, attributesOf('pods', { object: pod(spec) }))).toBe(
      key === undefined
        ? undefined
        : `pods "it" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${key} but only key kubernetes.io/hostname is allowed`,
    );
  });
});

describe('TaintNodesByCondition', () => {
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  const other = { key: 'k', effect: 'NoExecute' };
  test.each([
    ['without taints', {}, [taint]],
    ['that is tainted so', { taints: [taint] }, [taint]],
    [
      'with other taints',
      { taints: [other, { ...taint, effect: 'NoExecute' }] },
      [other, { ...taint, effect: 'NoExecute' }, taint],
    ],
  ])('a new node %s', async (_, spec, taints) => {
    const object = toObject({ spec: spec as JsonObject });
    expect(await refusalOf(taintNewNodes, attributesOf('nodes', { object }))).toBeUndefined();
    expect((object.spec as JsonObject).taints).toEqual(taints);
  });

  test('a node that is there keeps its taints', async () => {
    const object = toObject({ spec: {} });
    await refusalOf(taintNewNodes, attributesOf('nodes', { operation: 'UPDATE', object, old: object }));
    expect(object.spec).toEqual({});
  });
});

test('AlwaysAdmit lets everything pass, and AlwaysDeny nothing but what the server itself writes', async () => {
  const object = toObject({});
  const chain = new AdmissionChain([alwaysAdmit]);
  await chain.mutate(attributesOf('pods', { object }));
  await chain.validate(attributesOf('pods', { object }));
  for (const operation of ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const)
    expect(await refusalOf(alwaysDeny, attributesOf('configmaps', { operation, object, old: object }))).toBe(
      'configmaps "it" is forbidden: admission control is denying all modifications',
    );
  const user = { username: 'system:apiserver', uid: '', groups: [], extra: {} };
  expect(await refusalOf(alwaysDeny, attributesOf('configmaps', { object, user }))).toBeUndefined();
});
