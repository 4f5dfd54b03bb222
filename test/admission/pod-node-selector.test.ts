import { describe, expect, test } from 'vitest';
import { createPodNodeSelector, readNodeSelectors } from '../../src/admission/plugins/pod-node-selector.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { attributesOf, FakeCluster, refusalOf, toObject } from '../kit/admission.ts';

interface Case {
  readonly cluster?: string;
  readonly namespace?: string;
  readonly listed?: string;
  readonly pod?: Record<string, string>;
}

/** The node selector of the pod, or why it was refused. */
async function admit({ cluster, namespace, listed, pod }: Case): Promise<unknown> {
  const annotations =
    namespace === undefined ? {} : { 'scheduler.alpha.kubernetes.io/node-selector': namespace };
  const selectors = new Map([
    ...(cluster === undefined ? [] : [['clusterDefaultNodeSelector', cluster] as const]),
    ...(listed === undefined ? [] : [['default', listed] as const]),
  ]);
  const objects = new FakeCluster({ namespaces: [{ metadata: { name: 'default', annotations } }] });
  const object = toObject({ spec: pod === undefined ? {} : { nodeSelector: pod } });
  const refused = await refusalOf(
    createPodNodeSelector(objects, selectors),
    attributesOf('pods', { object }),
  );
  return refused ?? (object.spec as JsonObject).nodeSelector;
}

const OTHER =
  'pods "it" is forbidden: pod node label selector conflicts with its namespace node label selector';
const UNLISTED =
  'pods "it" is forbidden: pod node label selector labels conflict with its namespace whitelist';

describe('node selectors of pods', () => {
  const cases: [string, Case, unknown][] = [
    ['nothing anywhere', {}, undefined],
    ["the cluster's", { cluster: 'infra = false' }, { infra: 'false' }],
    ["the namespace's, with spaces", { namespace: ' infra = false ' }, { infra: 'false' }],
    [
      "the namespace's before the cluster's",
      { cluster: 'infra=false', namespace: 'infra=true' },
      { infra: 'true' },
    ],
    ['an empty one of the namespace', { cluster: 'infra=false', namespace: '' }, undefined],
    [
      "the pod's beside it",
      { namespace: 'infra=true', pod: { env: 'test' } },
      { infra: 'true', env: 'test' },
    ],
    ["another of the pod's", { namespace: 'infra=true', pod: { infra: 'false' } }, OTHER],
    [
      'one of several that differs',
      { namespace: 'infra=false, env = test', pod: { env: 'dev', color: 'blue' } },
      OTHER,
    ],
    [
      'what is listed',
      {
        namespace: 'infra=false,env=dev',
        listed: 'env=dev, infra=false, color=blue',
        pod: { color: 'blue' },
      },
      { infra: 'false', env: 'dev', color: 'blue' },
    ],
    ['what is listed otherwise', { namespace: 'infra=false', listed: 'infra=true' }, UNLISTED],
    ['what is not listed', { cluster: 'env=dev', listed: 'zone=a' }, UNLISTED],
    ['no pairs', { namespace: 'a=b=c' }, 'invalid selector: [a b c]'],
  ];
  test.each(cases)('%s', async (_, given, expected) => {
    expect(await admit(given)).toEqual(expected);
  });

  test('invalid labels are reported with their path', async () => {
    expect(await admit({ namespace: 'a b=c' })).toMatch(
      /^<nil>: Invalid value: "a b": name part must consist/,
    );
    expect(await admit({ namespace: 'a=b c' })).toMatch(
      /^\[a\]: Invalid value: "b c": a valid label must be/,
    );
  });

  test('a namespace that does not exist is reported', async () => {
    const plugin = createPodNodeSelector(new FakeCluster(), new Map());
    expect(await refusalOf(plugin, attributesOf('pods', { object: toObject({}) }))).toBe(
      'Internal error occurred: namespace default does not exist',
    );
  });
});

test('the configuration holds selectors by namespace', () => {
  const config = { podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'a=b', ns1: 'c=d' } };
  expect([...readNodeSelectors(config)]).toEqual([
    ['clusterDefaultNodeSelector', 'a=b'],
    ['ns1', 'c=d'],
  ]);
  expect(readNodeSelectors(undefined).size).toBe(0);
  expect(() => readNodeSelectors({ podNodeSelectorPluginConfig: { ns1: 1 } })).toThrow('ns1 must be a text');
});
