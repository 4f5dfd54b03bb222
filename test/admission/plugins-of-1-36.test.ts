import { expect, test } from 'vitest';
import type { AdmissionAttributes, AdmissionPlugin } from '../../src/admission/admission.ts';
import { findPlugin, pluginsOf } from '../../src/admission/all-plugins.ts';
import { podGroupWorkload } from '../../src/admission/plugins/pod-group-workload.ts';
import { jobValidation, podGroupProtection } from '../../src/admission/plugins/pod-groups.ts';
import { podResizeLimits } from '../../src/admission/plugins/pod-resize-limits.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import type { ResourceDefinition } from '../../src/registry/resource-definition.ts';
import { builtInResources } from '../../src/resources/all.ts';
import { attributesOf, FakeCluster, refusalOf, toObject } from '../kit/admission.ts';

/** Plugins that are on by default since 1.36. */

function definitionOf(resource: string): ResourceDefinition {
  const definition = builtInResources(36).find((one) => one.resource === resource);
  if (definition === undefined) throw new Error(`there are no ${resource}`);
  return definition;
}

const workload = (name: string, more: JsonObject = {}): JsonObject => ({
  metadata: { name, namespace: 'default', ...more },
  spec: { podGroupTemplates: [{ name: 'workers' }] },
});

const node = (name: string, system?: string): JsonObject => ({
  metadata: { name, labels: system === undefined ? {} : { 'kubernetes.io/os': system } },
  status: { allocatable: { cpu: '2', memory: '1Gi' } },
});

const policies = {
  gang: { schedulingPolicy: { gang: { minCount: 2 } } },
  basic: { schedulingPolicy: { basic: {} } },
};
const group = (name: string, policy: keyof typeof policies, owner?: JsonObject): JsonObject => ({
  metadata: { name, namespace: 'default', ...(owner === undefined ? {} : { ownerReferences: [owner] }) },
  spec: policies[policy],
});

const objects = new FakeCluster({
  podgroups: [
    group('named', 'gang'),
    group('basic', 'basic'),
    group('owned', 'gang', { uid: 'controlled', controller: true }),
    group('held', 'gang', { uid: 'held' }),
  ],
  workloads: [workload('w'), workload('ending', { deletionTimestamp: '2026-01-01T00:00:00Z' })],
  nodes: [node('linux', 'linux'), node('windows', 'windows'), node('bare')],
});

test.each(['PodGroupProtection', 'PodGroupWorkloadExists', 'JobValidation', 'PodResizeValidator'])(
  '%s is on since 1.36',
  (name) => {
    expect(findPlugin(name)?.isDefault).toBe(true);
    expect(pluginsOf(35).map((one) => one.name)).not.toContain(name);
    expect(pluginsOf(36).map((one) => one.name)).toContain(name);
    for (const plugin of [podGroupWorkload, podResizeLimits, podGroupProtection, jobValidation])
      expect(plugin.create({ objects, isFeatureOn: () => false })).toBeUndefined();
  },
);

test.each<[JsonObject, string | undefined]>([
  [{}, undefined],
  [{ podGroupTemplateRef: { workload: { workloadName: 'w', podGroupTemplateName: 'workers' } } }, undefined],
  [
    { podGroupTemplateRef: { workload: { workloadName: 'none', podGroupTemplateName: 'workers' } } },
    'PodGroup rejected: Workload "none" not found',
  ],
  [
    { podGroupTemplateRef: { workload: { workloadName: 'ending', podGroupTemplateName: 'workers' } } },
    'PodGroup rejected: Workload "ending" is being deleted',
  ],
  [
    { podGroupTemplateRef: { workload: { workloadName: 'w', podGroupTemplateName: 'other' } } },
    'PodGroup rejected: PodGroupTemplate "other" not found in Workload "w"',
  ],
])('a group of pods with %j: %s', async (spec, why) => {
  const plugin = podGroupWorkload.create({ objects, isFeatureOn: (gate) => gate === 'GenericWorkload' });
  if (plugin === undefined) throw new Error('the plugin is off');
  const definition = definitionOf('podgroups');
  const object = toObject({ spec });
  const refused = await refusalOf(plugin, attributesOf('pods', { definition, namespace: 'default', object }));
  expect(refused?.split(' is forbidden: ')[1]).toBe(why);
});

const asking = (nodeName: string, requests: JsonObject, generation = 2): JsonObject => ({
  metadata: { name: 'p', generation },
  spec: { nodeName, containers: [{ name: 'a', resources: { requests } }, { name: 'b' }] },
});

const ON_WINDOWS = 'pod resize is only supported on linux nodes, node "windows" is "windows"';

test.each<[string, JsonObject, string, string | undefined]>([
  ['that fits', asking('linux', { cpu: '2', memory: '1Gi' }), 'resize', undefined],
  ['before it is placed', asking('', { cpu: '9' }), 'resize', undefined],
  ['that changes nothing', asking('linux', { cpu: '9' }, 1), 'resize', undefined],
  ['by another way', asking('linux', { cpu: '9' }), '', undefined],
  [
    'beyond its node',
    asking('linux', { cpu: '2001m', memory: '2Gi' }),
    'resize',
    "node didn't have enough allocatable resources: cpu, requested: 2001, allocatable: 2000; memory, requested: 2147483648, allocatable: 1073741824",
  ],
  [
    'beyond it by less than the unit of the message',
    asking('linux', { cpu: '2000100u', memory: '1Gi' }),
    'resize',
    "node didn't have enough allocatable resources: cpu, requested: 2001, allocatable: 2000",
  ],
  ['without its node', asking('gone', {}), 'resize', 'node "gone" not found'],
  ['on another system', asking('windows', {}), 'resize', ON_WINDOWS],
  ['beyond its node on another system', asking('windows', { cpu: '9' }), 'resize', ON_WINDOWS],
  ['on a system that is not known', asking('bare', {}), 'resize', undefined],
])('a resize %s', async (_, after, subresource, why) => {
  const refused = await refusalOf(resizeLimits(), resize(after, subresource));
  expect(refused?.split(' is forbidden: ')[1]).toBe(why);
});

const resizeLimits = (): AdmissionPlugin => {
  const plugin = podResizeLimits.create({ objects, isFeatureOn: () => true });
  if (plugin === undefined) throw new Error('the plugin is off');
  return plugin;
};

const resize = (after: JsonObject, subresource = 'resize'): AdmissionAttributes =>
  attributesOf('pods', {
    operation: 'UPDATE',
    subresource,
    object: toObject(after),
    old: toObject(asking('linux', { cpu: '1' }, 1)),
  });

test.each([
  ['linux', 'NodeCapacity'],
  ['windows', 'UnsupportedPlatform'],
])('a refused resize on %s has the cause %s', async (nodeName, reason) => {
  await expect(
    (async () => resizeLimits().validate?.(resize(asking(nodeName, { cpu: '9' }))))(),
  ).rejects.toMatchObject({ status: { details: { causes: [{ reason }] } } });
});

test('a new group of pods gets the finalizer that keeps it, once', async () => {
  const plugin = podGroupProtection.create({ isFeatureOn: (gate) => gate === 'GenericWorkload' });
  if (plugin?.mutate === undefined) throw new Error('the plugin is off');
  const definition = definitionOf('podgroups');
  const object = toObject({ metadata: { finalizers: ['a.example.com/b'] } });
  const attributes = attributesOf('pods', { definition, namespace: 'default', object });
  for (let n = 0; n < 2; n += 1) await plugin.mutate(attributes);
  expect(object.metadata.finalizers).toEqual(['a.example.com/b', 'scheduling.k8s.io/podgroup-protection']);
  expect(plugin.operations).toEqual(['CREATE']);
});

const job = (parallelism: number, uid: string, podGroupName?: string): JsonObject => ({
  metadata: { name: 'j', namespace: 'default', uid },
  spec: {
    parallelism,
    template: { spec: podGroupName === undefined ? {} : { schedulingGroup: { podGroupName } } },
  },
});

const WHY = (name: string): string =>
  `cannot change parallelism for a Job referencing gang-scheduled PodGroup "${name}"`;

test.each<[string, number, string, string | undefined, string | undefined]>([
  ['whose template names a gang', 3, 'j', 'named', WHY('named')],
  ['whose template names another group', 3, 'controlled', 'basic', undefined],
  ['whose template names no group that is there', 3, 'controlled', 'none', undefined],
  ['that controls a gang', 3, 'controlled', undefined, WHY('owned')],
  ['that owns a gang without controlling it', 3, 'held', undefined, undefined],
  ['that has no gang', 3, 'j', undefined, undefined],
  ['with a gang, of which something else changes', 2, 'j', 'named', undefined],
])('the parallelism of a job %s', async (_, parallelism, uid, podGroupName, why) => {
  const plugin = jobValidation.create({ objects, isFeatureOn: (gate) => gate === 'GenericWorkload' });
  if (plugin === undefined) throw new Error('the plugin is off');
  const refused = await refusalOf(
    plugin,
    attributesOf('pods', {
      definition: definitionOf('jobs'),
      operation: 'UPDATE',
      namespace: 'default',
      object: toObject(job(parallelism, uid, podGroupName)),
      old: toObject(job(2, uid, podGroupName)),
    }),
  );
  expect(refused?.split(' is forbidden: ')[1]).toBe(why);
});
