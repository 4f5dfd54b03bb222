import { expect, test } from 'vitest';
import { nodeDeclaredFeatures } from '../../src/admission/plugins/node-declared-features.ts';
import type { Minor } from '../../src/api/emulation.ts';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { StatusError } from '../../src/api/status.ts';
import { attributesOf, FakeCluster, toObject } from '../kit/admission.ts';

const POD_LEVEL = 'InPlacePodLevelResourcesVerticalScaling';
const INIT = 'InPlacePodVerticalScalingInitContainers';
const GUARANTEED = 'GuaranteedQoSPodCPUResize';

const objects = new FakeCluster({
  nodes: [
    { metadata: { name: 'able' }, status: { declaredFeatures: [GUARANTEED, POD_LEVEL, INIT] } },
    { metadata: { name: 'old' } },
  ],
});

const cpu = (amount: string): JsonObject => ({ resources: { requests: { cpu: amount } } });

const podOn = (nodeName: string, spec: JsonObject): ApiObject =>
  toObject({ spec: { nodeName, containers: [], ...spec }, status: { qosClass: 'Guaranteed' } });

type Specs = readonly [JsonObject, JsonObject];

interface Update {
  readonly on?: string;
  readonly emulated?: Minor;
  readonly subresource?: string;
}

/** Why the update is refused; undefined: it is allowed. */
async function refusalOf(
  [before, after]: Specs,
  { on = 'old', emulated = 36, subresource = 'resize' }: Update = {},
): Promise<string | undefined> {
  const plugin = nodeDeclaredFeatures.create({ objects, emulated, isFeatureOn: () => true });
  const update = {
    operation: 'UPDATE',
    object: podOn(on, after),
    old: podOn(on, before),
    subresource,
  } as const;
  try {
    await plugin?.validate?.(attributesOf('pods', update));
    return undefined;
  } catch (error) {
    return error instanceof StatusError ? error.status.message : String(error);
  }
}

const POD_RESIZE: Specs = [cpu('1'), cpu('2')];
const INIT_RESIZE: Specs = [{ initContainers: [cpu('1')] }, { initContainers: [cpu('2')] }];
const CPU_RESIZE: Specs = [{ containers: [cpu('1')] }, { containers: [cpu('2')] }];
const SIDECAR = { restartPolicy: 'Always' };

const lacks = (name: string): string =>
  `pods "it" is forbidden: pod update requires features ${name} which are not available on node "old"`;

test.each<[string, Specs, Update, string]>([
  ['the resources of a pod', POD_RESIZE, {}, lacks(POD_LEVEL)],
  ['those that the pod had none of', [{}, cpu('1')], {}, lacks(POD_LEVEL)],
  ['an init container', INIT_RESIZE, {}, lacks(INIT)],
  ['a container of a guaranteed pod in 1.35', CPU_RESIZE, { emulated: 35 }, lacks(GUARANTEED)],
  ['a pod by an update', POD_RESIZE, { subresource: '' }, lacks(POD_LEVEL)],
  [
    'a pod of a node that is gone',
    POD_RESIZE,
    { on: 'gone' },
    'pods "it" is forbidden: node "gone" not found',
  ],
])('a resize that the node does not declare is refused: %s', async (_, update, options, message) => {
  expect(await refusalOf(update, options)).toBe(message);
});

test.each<[string, Specs, Update]>([
  ['the node declares it', POD_RESIZE, { on: 'able' }],
  ['the pod has no node', POD_RESIZE, { on: '' }],
  ['the amounts are the same', [cpu('1'), cpu('1000m')], {}],
  [
    'it is a sidecar',
    [{ initContainers: [{ ...SIDECAR, ...cpu('1') }] }, { initContainers: [{ ...SIDECAR, ...cpu('2') }] }],
    {},
  ],
  ['the version knows no such feature', INIT_RESIZE, { emulated: 35 }],
  ['every node of 1.36 can', CPU_RESIZE, {}],
  ['it is the status that changes', POD_RESIZE, { subresource: 'status' }],
])('a resize is allowed where %s', async (_, update, options) => {
  expect(await refusalOf(update, options)).toBeUndefined();
});

test('nothing is refused without the gate', () => {
  expect(nodeDeclaredFeatures.create({ objects, emulated: 36, isFeatureOn: () => false })).toBeUndefined();
});
