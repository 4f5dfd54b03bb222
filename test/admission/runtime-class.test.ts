import { describe, expect, test } from 'vitest';
import { runtimeClass as description } from '../../src/admission/plugins/runtime-class.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { attributesOf, FakeCluster, pluginFrom, refusalOf, toObject } from '../kit/admission.ts';

/** The spec of the pod, or why it was refused. */
async function admit(spec: JsonObject, runtimeClass?: JsonObject): Promise<unknown> {
  const runtimeclasses =
    runtimeClass === undefined ? [] : [{ metadata: { name: 'sandbox' }, ...runtimeClass }];
  const object = toObject({
    spec: { ...(runtimeClass === undefined ? {} : { runtimeClassName: 'sandbox' }), ...spec },
  });
  const plugin = pluginFrom(description, { objects: new FakeCluster({ runtimeclasses }) });
  return (await refusalOf(plugin, attributesOf('pods', { object }))) ?? object.spec;
}

describe('overhead', () => {
  const overhead = { podFixed: { cpu: '100m', memory: '1' } };
  const mismatch =
    "pods \"it\" is forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

  test("of the class becomes the pod's", async () => {
    expect(await admit({}, { overhead })).toMatchObject({ overhead: { cpu: '100m', memory: '1' } });
  });

  test('may be in the pod as it would become, however it is written', async () => {
    expect(await admit({ overhead: { cpu: '0.1', memory: '1000m' } }, { overhead })).toMatchObject({
      overhead: overhead.podFixed,
    });
    expect(await admit({ overhead: { cpu: '10', memory: '10G' } }, { overhead })).toBe(mismatch);
    expect(await admit({ overhead: { cpu: '100m' } }, { overhead })).toBe(mismatch);
  });

  test('is refused in a pod whose class defines none', async () => {
    const why =
      'pods "it" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead';
    expect(await admit({ overhead: { cpu: '1' } })).toBe(why);
    expect(await admit({ overhead: { cpu: '1' } }, {})).toBe(why);
    expect(await admit({}, {})).toEqual({ runtimeClassName: 'sandbox' });
  });
});

describe('scheduling', () => {
  const toleration = { key: 'k', operator: 'Exists', effect: 'NoSchedule' };

  test("of the class is added to the pod's", async () => {
    const scheduling = { nodeSelector: { a: 'b' }, tolerations: [toleration] };
    expect(await admit({ nodeSelector: { c: 'd' } }, { scheduling })).toMatchObject({
      nodeSelector: { a: 'b', c: 'd' },
      tolerations: [toleration],
    });
    const own = { ...toleration, operator: 'Equal', value: 'v' };
    expect(await admit({ nodeSelector: { a: 'b' }, tolerations: [own] }, { scheduling })).toMatchObject({
      nodeSelector: { a: 'b' },
      tolerations: [toleration],
    });
  });

  test("must not contradict the pod's", async () => {
    const scheduling = { nodeSelector: { a: 'b' } };
    expect(await admit({ nodeSelector: { a: 'c' } }, { scheduling })).toBe(
      'pods "it" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c',
    );
  });
});

test('a pod whose class is not there is refused', async () => {
  expect(await admit({ runtimeClassName: 'none' }, {})).toBe(
    'pods "it" is forbidden: pod rejected: RuntimeClass "none" not found',
  );
});
