import { describe, expect, test } from 'vitest';
import {
  createPodTolerationRestriction,
  readClusterTolerations,
} from '../../src/admission/plugins/pod-toleration-restriction.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { attributesOf, FakeCluster, refusalOf, toObject } from '../kit/admission.ts';

const one = (value: string): JsonObject => ({ key: 'k', operator: 'Equal', value, effect: 'NoSchedule' });
const MEMORY = { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' };

interface Case {
  readonly pod?: JsonObject[];
  readonly default?: JsonObject[];
  readonly whitelist?: JsonObject[];
  readonly annotations?: Record<string, string>;
  readonly requests?: JsonObject;
  readonly operation?: 'CREATE' | 'UPDATE';
}

async function admit(given: Case): Promise<unknown> {
  const namespace = {
    metadata: {
      name: 'default',
      annotations: Object.fromEntries(
        Object.entries(given.annotations ?? {}).map(([name, value]) => [
          `scheduler.alpha.kubernetes.io/${name}`,
          value,
        ]),
      ),
    },
  };
  const plugin = createPodTolerationRestriction(new FakeCluster({ namespaces: [namespace] }), {
    default: given.default ?? [],
    whitelist: given.whitelist ?? [],
  });
  const object = toObject({
    spec: {
      containers: [{ name: 'c', resources: { requests: given.requests } }],
      ...(given.pod === undefined ? {} : { tolerations: given.pod }),
    },
  });
  const refused = await refusalOf(
    plugin,
    attributesOf('pods', { operation: given.operation ?? 'CREATE', object }),
  );
  return refused ?? (object.spec as JsonObject).tolerations;
}

const json = (...tolerations: JsonObject[]): string => JSON.stringify(tolerations);
const conflict = (scope: string): string =>
  `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${scope} whitelist`;

describe('tolerations of pods', () => {
  const cases: [string, Case, unknown][] = [
    ['nothing anywhere', {}, undefined],
    ["the cluster's defaults", { default: [one('a')] }, [one('a')]],
    ["the cluster's defaults that it has", { pod: [one('a')], default: [one('a')] }, [one('a')]],
    ["the namespace's defaults", { annotations: { defaultTolerations: json(one('a')) } }, [one('a')]],
    ['both', { pod: [one('b')], annotations: { defaultTolerations: json(one('a')) } }, [one('b'), one('a')]],
    [
      'an empty list instead of defaults',
      { default: [one('a')], annotations: { defaultTolerations: '[]' } },
      undefined,
    ],
    [
      'an empty text instead of defaults',
      { default: [one('a')], annotations: { defaultTolerations: '' } },
      undefined,
    ],
    ['no defaults on update', { default: [one('a')], operation: 'UPDATE' }, undefined],
    ['pressure, when it asks for something', { requests: { memory: '1Mi' } }, [MEMORY]],
    ['pressure on update', { requests: { cpu: '1' }, operation: 'UPDATE' }, [MEMORY]],
    [
      'what the namespace allows',
      { pod: [one('a')], annotations: { tolerationsWhitelist: json(one('a')) } },
      [one('a')],
    ],
    [
      'what it does not',
      { pod: [one('b')], annotations: { tolerationsWhitelist: json(one('a')) } },
      conflict('namespace'),
    ],
    [
      'defaults that it does not allow',
      { annotations: { defaultTolerations: json(one('b')), tolerationsWhitelist: json(one('a')) } },
      conflict('namespace'),
    ],
    ['what the cluster does not allow', { pod: [one('b')], whitelist: [one('a')] }, conflict('cluster')],
    [
      'what the cluster does not allow and the namespace does',
      { pod: [one('b')], whitelist: [one('a')], annotations: { tolerationsWhitelist: '[]' } },
      [one('b')],
    ],
  ];
  test.each(cases)('%s', async (_, given, expected) => {
    expect(await admit(given)).toEqual(expected);
  });

  test('an annotation that is no list is reported', async () => {
    expect(await admit({ annotations: { defaultTolerations: '{}' } })).toContain('no list of tolerations');
    expect(await admit({ annotations: { defaultTolerations: '{' } })).toContain('JSON');
    expect(await admit({ annotations: { defaultTolerations: '[{"key":5}]' } })).toContain(
      'no list of tolerations',
    );
    expect(await admit({ annotations: { defaultTolerations: '[{"tolerationSeconds":"1"}]' } })).toContain(
      'no list of tolerations',
    );
  });

  test('a null in an annotation is an absent field', async () => {
    const text = JSON.stringify([{ ...one('a'), tolerationSeconds: null }]);
    expect(await admit({ annotations: { defaultTolerations: text } })).toEqual(
      await admit({ annotations: { defaultTolerations: JSON.stringify([one('a')]) } }),
    );
  });
});

describe('the configuration', () => {
  const head = { apiVersion: 'podtolerationrestriction.admission.k8s.io/v1alpha1', kind: 'Configuration' };
  const check = (_: readonly JsonObject[], field: string) =>
    field.endsWith('whitelist') ? [{ type: 'FieldValueInvalid' as const, field, message: 'wrong' }] : [];

  test('holds defaults and what is allowed', () => {
    expect(readClusterTolerations({ ...head, default: [one('a')] }, () => [])).toEqual({
      default: [one('a')],
      whitelist: [],
    });
    expect(readClusterTolerations(undefined, check)).toEqual({ default: [], whitelist: [] });
  });

  test('says all that is wrong', () => {
    expect(() => readClusterTolerations({ ...head, kind: 'Other', more: 1 }, check)).toThrow(
      /kind: .*more: unknown field, podtolerationrestriction.whitelist: wrong/,
    );
  });
});
