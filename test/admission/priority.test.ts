import { describe, expect, test } from 'vitest';
import { priority } from '../../src/admission/plugins/priority.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import type { ResourceDefinition } from '../../src/registry/resource-definition.ts';
import { builtInResources } from '../../src/resources/all.ts';
import { attributesOf, FakeCluster, pluginFrom, refusalOf, toObject } from '../kit/admission.ts';

const priorityClass = (name: string, value: number, more: JsonObject = {}): JsonObject => ({
  ...more,
  metadata: { name },
  value,
});
const pluginOf = (...classes: JsonObject[]) =>
  pluginFrom(priority, {
    objects: new FakeCluster({ priorityclasses: classes }),
    isFeatureOn: (gate) => gate === 'WorkloadAwarePreemption',
  });
const pod = (spec: JsonObject = {}) => toObject({ spec });

async function admitted(spec: JsonObject, ...classes: JsonObject[]): Promise<unknown> {
  const object = pod(spec);
  expect(await refusalOf(pluginOf(...classes), attributesOf('pods', { object }))).toBeUndefined();
  return object.spec;
}

const refused = (spec: JsonObject, ...classes: JsonObject[]): Promise<string | undefined> =>
  refusalOf(pluginOf(...classes), attributesOf('pods', { object: pod(spec) }));

describe('new groups of pods that are preempted together', () => {
  const definition = builtInResources(36).find(
    ({ resource }) => resource === 'podgroups',
  ) as ResourceDefinition;
  const low = priorityClass('low', 10, { preemptionPolicy: 'Never' });
  const answer = async (spec: JsonObject, more: object = {}): Promise<unknown> => {
    const object = pod(spec);
    const attributes = attributesOf('pods', { definition, object, ...more });
    return (await refusalOf(pluginOf(low), attributes)) ?? object.spec;
  };

  test('have the priority of their class, and no other', async () => {
    expect(await answer({})).toEqual({ priority: 0 });
    expect(await answer({ priorityClassName: 'low' })).toEqual({ priorityClassName: 'low', priority: 10 });
    expect(await answer({ priorityClassName: 'none' })).toBe(
      'podgroups.scheduling.k8s.io "it" is forbidden: no PriorityClass with name none was found',
    );
    expect(await answer({ priority: 5 })).toBe(
      'podgroups.scheduling.k8s.io "it" is forbidden: priority set in the pod group (5) must match the priority computed (0) based on the priority class set in the spec',
    );
    expect(await answer({}, { operation: 'UPDATE' })).toEqual({});
  });

  test('have none without the feature', async () => {
    const object = pod({});
    const plain = pluginFrom(priority, { objects: new FakeCluster({}), isFeatureOn: () => false });
    expect(await refusalOf(plain, attributesOf('pods', { definition, object }))).toBeUndefined();
    expect(object.spec).toEqual({});
  });
});

describe('new pods', () => {
  const low = priorityClass('low', 10);
  const never = priorityClass('never', 20, { preemptionPolicy: 'Never' });
  const usual = priorityClass('usual', 30, { globalDefault: true, preemptionPolicy: 'PreemptLowerPriority' });

  test('of a cluster without classes have the priority zero', async () => {
    expect(await admitted({})).toEqual({ priority: 0, preemptionPolicy: 'PreemptLowerPriority' });
  });

  test('have what their class says', async () => {
    expect(await admitted({ priorityClassName: 'low' }, low, usual)).toEqual({
      priorityClassName: 'low',
      priority: 10,
    });
    expect(await admitted({ priorityClassName: 'never' }, never)).toMatchObject({
      priority: 20,
      preemptionPolicy: 'Never',
    });
  });

  test('that name no class get the default one', async () => {
    expect(await admitted({}, low, usual)).toEqual({
      priorityClassName: 'usual',
      priority: 30,
      preemptionPolicy: 'PreemptLowerPriority',
    });
  });

  test('get the lowest of several defaults', async () => {
    const other = priorityClass('other', 5, { globalDefault: true });
    expect(await admitted({}, usual, other)).toMatchObject({ priorityClassName: 'other', priority: 5 });
  });

  test('that name a class that is not there are refused', async () => {
    expect(await refused({ priorityClassName: 'none' }, low)).toBe(
      'pods "it" is forbidden: no PriorityClass with name none was found',
    );
  });

  test('may say the numbers that they would get, and no others', async () => {
    expect(await admitted({ priorityClassName: 'low', priority: 10 }, low)).toMatchObject({ priority: 10 });
    expect(await refused({ priorityClassName: 'low', priority: 11 }, low)).toBe(
      'pods "it" is forbidden: the integer value of priority (11) must not be provided in pod spec; priority admission controller computed 10 from the given PriorityClass name',
    );
    expect(
      await refused({ priorityClassName: 'never', preemptionPolicy: 'PreemptLowerPriority' }, never),
    ).toBe(
      'pods "it" is forbidden: the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never from the given PriorityClass name',
    );
    expect(await admitted({ priorityClassName: 'low', preemptionPolicy: 'Never' }, low)).toMatchObject({
      preemptionPolicy: 'Never',
    });
  });
});

test('a pod written back without its priority keeps it', async () => {
  const object = pod();
  const old = pod({ priority: 7, preemptionPolicy: 'Never' });
  const attributes = attributesOf('pods', { operation: 'UPDATE', object, old });
  expect(await refusalOf(pluginOf(), attributes)).toBeUndefined();
  expect(object.spec).toEqual({ priority: 7, preemptionPolicy: 'Never' });
});

test('subresources of pods are left alone', async () => {
  const object = pod({ priority: 9 });
  expect(
    await refusalOf(pluginOf(), attributesOf('pods', { object, subresource: 'status' })),
  ).toBeUndefined();
});

describe('classes', () => {
  const usual = priorityClass('usual', 1, { globalDefault: true });
  const write = (
    operation: 'CREATE' | 'UPDATE',
    name: string,
    globalDefault: boolean,
    ...held: JsonObject[]
  ) => {
    const object = toObject(priorityClass(name, 2, { globalDefault }));
    const attributes = attributesOf('scheduling.k8s.io/priorityclasses', { operation, object });
    return refusalOf(pluginOf(...held), attributes);
  };

  test.each([
    ['CREATE', 'other', true, 'other'],
    ['UPDATE', 'other', true, 'other'],
    ['CREATE', 'usual', true, 'usual'],
    ['UPDATE', 'usual', true, undefined],
    ['CREATE', 'other', false, undefined],
  ] as const)(
    '%s of %s as default %s beside another default: refused as %s',
    async (operation, name, isDefault, refusedAs) => {
      expect(await write(operation, name, isDefault, usual)).toBe(
        refusedAs &&
          `priorityclasses.scheduling.k8s.io "${refusedAs}" is forbidden: PriorityClass usual is already marked as default. Only one default can exist`,
      );
    },
  );

  test('the first default is welcome', async () => {
    expect(await write('CREATE', 'first', true, priorityClass('other', 1))).toBeUndefined();
  });
});
