import { describe, expect, test } from 'vitest';
import { limitRanger } from '../../src/admission/plugins/limit-ranger.ts';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { attributesOf, FakeCluster, pluginFrom, refusalOf, toObject } from '../kit/admission.ts';

const limitRange = (...limits: JsonObject[]): JsonObject => ({
  metadata: { name: 'limits', namespace: 'default' },
  spec: { limits },
});

const container = (requests: JsonObject, limits: JsonObject, more: JsonObject = {}): JsonObject => ({
  name: 'c',
  image: 'i',
  resources: { requests, limits },
  ...more,
});

const pod = (...containers: JsonObject[]) => toObject({ spec: { containers } });

const pluginOf = (...ranges: JsonObject[]) =>
  pluginFrom(limitRanger, { objects: new FakeCluster({ limitranges: ranges }) });

const refusedPod = (limit: JsonObject, object = pod(container({}, {}))) =>
  refusalOf(pluginOf(limitRange(limit)), attributesOf('pods', { object }));

describe('limits of containers', () => {
  test.each([
    ['a request within both ends', { min: { cpu: '50m' }, max: { cpu: '2' } }, ['100m', '1'], undefined],
    [
      'no request',
      { min: { memory: '1Gi' } },
      ['1', '1'],
      'minimum memory usage per Container is 1Gi.  No request is specified',
    ],
    [
      'too small a request',
      { min: { cpu: '500m' } },
      ['100m', '1'],
      'minimum cpu usage per Container is 500m, but request is 100m',
    ],
    [
      'too small a limit',
      { min: { cpu: '2' } },
      ['2', '1'],
      'minimum cpu usage per Container is 2, but limit is 1',
    ],
    [
      'no limit',
      { max: { memory: '1Gi' } },
      ['1', '1'],
      'maximum memory usage per Container is 1Gi.  No limit is specified',
    ],
    [
      'too large a limit',
      { max: { cpu: '1' } },
      ['1', '1500m'],
      'maximum cpu usage per Container is 1, but limit is 1500m',
    ],
    [
      'too large a request',
      { max: { cpu: '1' } },
      ['2', '1'],
      'maximum cpu usage per Container is 1, but request is 2',
    ],
    ['a ratio within', { maxLimitRequestRatio: { cpu: '2' } }, ['1', '2'], undefined],
    [
      'too large a ratio',
      { maxLimitRequestRatio: { cpu: '1500m' } },
      ['1', '2'],
      'cpu max limit to request ratio per Container is 1500m, but provided ratio is 2.000000',
    ],
    [
      'a ratio to nothing',
      { maxLimitRequestRatio: { memory: '2' } },
      ['1', '1'],
      'memory max limit to request ratio per Container is 2, but no request is specified or request is 0',
    ],
    [
      'a ratio of no limit',
      { maxLimitRequestRatio: { cpu: '2' } },
      ['1', '0'],
      'cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0',
    ],
    ['less than a thousandth below', { min: { cpu: '1m' } }, ['900u', '1'], undefined],
  ])('%s', async (_, limit, [request, most], why) => {
    const object = pod(container({ cpu: request }, { cpu: most }));
    const message = why === undefined ? undefined : `pods "it" is forbidden: ${why}`;
    expect(await refusedPod({ type: 'Container', ...limit }, object)).toBe(message);
  });

  test('init containers are measured too, and one refusal lists all reasons', async () => {
    const object = pod(container({ cpu: '1' }, { cpu: '3' }));
    (object.spec as JsonObject).initContainers = [container({ cpu: '1' }, { cpu: '4' })];
    expect(await refusedPod({ type: 'Container', max: { cpu: '2' } }, object)).toBe(
      'pods "it" is forbidden: [maximum cpu usage per Container is 2, but limit is 3, maximum cpu usage per Container is 2, but limit is 4]',
    );
  });

  test('a pod without a name is named by its generateName', async () => {
    const object = { ...pod(container({}, {})), metadata: { generateName: 'web-' } };
    expect(await refusedPod({ type: 'Container', min: { cpu: '1' } }, object)).toMatch(
      /^pods "web-" is forbidden/,
    );
  });
});

test('a pod as a whole is measured by what runs at the same time: sidecars always, init containers before the others', async () => {
  const object = pod(container({ cpu: '1' }, { cpu: '1' }), container({ cpu: '1' }, { cpu: '1' }));
  (object.spec as JsonObject).initContainers = [
    container({ cpu: '1' }, { cpu: '1' }, { restartPolicy: 'Always' }),
    container({ cpu: '1500m' }, { cpu: '1500m' }),
  ];
  const limit = (cpu: string) => ({ type: 'Pod', max: { cpu } });
  expect(await refusedPod(limit('3'), object)).toBeUndefined();
  expect(await refusedPod(limit('2900m'), object)).toBe(
    'pods "it" is forbidden: maximum cpu usage per Pod is 2900m, but limit is 3',
  );
});

test('containers get the defaults of the LimitRange, and an annotation names them', async () => {
  const plugin = pluginOf(
    limitRange({
      type: 'Container',
      default: { cpu: '1', memory: '2Gi' },
      defaultRequest: { memory: '1Gi', cpu: '500m' },
    }),
  );
  const object = pod({ name: 'a' }, container({ cpu: '2' }, { cpu: '2', memory: '3Gi' }));
  (object.spec as JsonObject).initContainers = [{ name: 'first' }];
  await plugin.mutate?.(attributesOf('pods', { object }));
  const given = { limits: { cpu: '1', memory: '2Gi' }, requests: { memory: '1Gi', cpu: '500m' } };
  expect(object.spec).toMatchObject({
    containers: [
      { resources: given },
      { resources: { requests: { cpu: '2', memory: '1Gi' }, limits: { cpu: '2', memory: '3Gi' } } },
    ],
    initContainers: [{ resources: given }],
  });
  expect(object.metadata.annotations).toEqual({
    'kubernetes.io/limit-ranger':
      'LimitRanger plugin set: cpu, memory request for container a; cpu, memory limit for container a; memory request for container c; ' +
      'cpu, memory request for init container first; cpu, memory limit for init container first',
  });
});

test('a pod that is there already, another namespace and a subresource are left alone', async () => {
  const plugin = pluginOf(limitRange({ type: 'Container', min: { cpu: '1' } }));
  const object = pod(container({}, {}));
  expect(
    await refusalOf(plugin, attributesOf('pods', { object, old: object, operation: 'UPDATE' })),
  ).toBeUndefined();
  expect(await refusalOf(plugin, attributesOf('pods', { object, namespace: 'other' }))).toBeUndefined();
  expect(await refusalOf(plugin, attributesOf('pods', { object, subresource: 'status' }))).toBeUndefined();
});

test.each([
  ['1Gi', undefined],
  ['512Mi', 'minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 512Mi'],
  ['3Gi', 'maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi'],
])('a claim of %s is measured when it is made and when it grows', async (storage, why) => {
  const plugin = pluginOf(
    limitRange({ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } }),
  );
  const object = toObject({ spec: { resources: { requests: { storage } } } });
  const message = why === undefined ? undefined : `persistentvolumeclaims "it" is forbidden: ${why}`;
  for (const operation of ['CREATE', 'UPDATE'] as const)
    expect(await refusalOf(plugin, attributesOf('persistentvolumeclaims', { object, operation }))).toBe(
      message,
    );
});

test('what is being deleted is not measured, however it is written', async () => {
  const plugin = pluginOf(
    limitRange(
      { type: 'PersistentVolumeClaim', max: { storage: '2Gi' } },
      { type: 'Pod', max: { cpu: '1' } },
    ),
  );
  const update = async (resource: string, object: ApiObject, more: object = {}) => {
    const ending = { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    return await Promise.all(
      [object, ending].map((old) =>
        refusalOf(plugin, attributesOf(resource, { object, old, operation: 'UPDATE', ...more })),
      ),
    );
  };
  const claim = toObject({ spec: { resources: { requests: { storage: '3Gi' } } } });
  expect(await update('persistentvolumeclaims', claim)).toEqual([expect.stringContaining('3Gi'), undefined]);
  const resized = pod(container({ cpu: '2' }, { cpu: '2' }));
  expect(await update('pods', resized, { subresource: 'resize' })).toEqual([
    expect.stringContaining('limit is 2'),
    undefined,
  ]);
});

test('a limit for pods counts the CPU that a pod states for itself, but not its huge pages', async () => {
  const states = (name: string, amount: string) => {
    const resources = { requests: { [name]: amount }, limits: { [name]: amount } };
    return toObject({ spec: { resources, containers: [container({ [name]: '1' }, { [name]: '1' })] } });
  };
  const refused = (name: string) => refusedPod({ type: 'Pod', max: { [name]: '2' } }, states(name, '3'));
  expect(await refused('cpu')).toContain('maximum cpu usage per Pod is 2, but limit is 3');
  expect(await refused('hugepages-2Mi')).toBeUndefined();
});
