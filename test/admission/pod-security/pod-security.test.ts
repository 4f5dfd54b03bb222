import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { AdmissionAttributes, AdmissionPlugin } from '../../../src/admission/admission.ts';
import { createPodSecurity } from '../../../src/admission/plugins/pod-security.ts';
import type { Bounds } from '../../../src/admission/pod-security/existing-pods.ts';
import { readPodSecurityConfig } from '../../../src/admission/pod-security/namespace-levels.ts';
import { PodSecurityMetrics } from '../../../src/admission/pod-security/pod-judge.ts';
import type { JsonObject } from '../../../src/api/object-meta.ts';
import { StatusError } from '../../../src/api/status.ts';
import { StorageError } from '../../../src/storage/errors.ts';
import type { Store } from '../../../src/storage/store.ts';
import { attributesOf, FakeCluster, refusalOf, toObject } from '../../kit/admission.ts';

const PREFIX = 'pod-security.kubernetes.io/';
const labels = (said: Record<string, string>): JsonObject =>
  Object.fromEntries(Object.entries(said).map(([key, value]) => [`${PREFIX}${key}`, value]));
const namespace = (name: string, said: Record<string, string>): JsonObject => ({
  metadata: { name, labels: labels(said) },
});

const CLUSTER = new FakeCluster({
  namespaces: [
    namespace('exempt', { enforce: 'restricted' }),
    namespace('implicit', {}),
    namespace('privileged', { enforce: 'privileged', 'enforce-version': 'v1.20' }),
    namespace('baseline', { enforce: 'baseline', warn: 'baseline', audit: 'baseline' }),
    namespace('warned', { warn: 'baseline' }),
    namespace('audited', { audit: 'baseline' }),
    namespace('restricted', { enforce: 'restricted', warn: 'restricted', audit: 'restricted' }),
    namespace('unreadable', { enforce: 'not-a-level' }),
  ],
});

const CONFIG = {
  apiVersion: 'pod-security.admission.config.k8s.io/v1',
  kind: 'PodSecurityConfiguration',
  exemptions: { usernames: ['exempt-user'], namespaces: ['exempt', 'test'], runtimeClasses: ['sandbox'] },
};

function make(options: {
  readonly registry?: Registry;
  readonly config?: JsonObject;
  readonly pods?: readonly JsonObject[] | 'unavailable';
  readonly bounds?: Bounds;
  readonly clock?: () => number;
  readonly cluster?: FakeCluster;
}): AdmissionPlugin {
  const { registry = new Registry(), config = CONFIG, cluster = CLUSTER, pods = [], ...rest } = options;
  const store = {
    list: async () => {
      if (pods === 'unavailable') throw new Error('unavailable');
      return { entries: pods.map((pod) => ({ json: Buffer.from(JSON.stringify(toObject(pod))) })) };
    },
  } as unknown as Store;
  return createPodSecurity({
    ...{ store, objects: cluster, relaxesOwnUsers: false, ...rest },
    config: readPodSecurityConfig(config),
    metrics: new PodSecurityMetrics(registry),
  });
}

interface Outcome {
  readonly refused?: { code: number; reason: string | undefined; message: string | undefined };
  readonly warnings: readonly string[];
  readonly annotations: Readonly<Record<string, string>>;
}

async function outcomeOf(
  plugin: AdmissionPlugin,
  resource: string,
  attributes: Partial<AdmissionAttributes>,
): Promise<Outcome> {
  const warnings: string[] = [];
  const noted: Record<string, string> = {};
  const write = attributesOf(resource, { ...attributes, warnings, annotations: noted });
  const outcome = (): Outcome => ({
    warnings,
    annotations: Object.fromEntries(
      Object.entries(noted).map(([key, value]) => [key.slice(PREFIX.length), value]),
    ),
  });
  try {
    await plugin.validate?.(write);
    return outcome();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const { code, reason, message } = error.status;
    return { refused: { code, reason, message }, ...outcome() };
  }
}

const BASELINE = { containers: [{ name: 'c', image: 'i' }] };
const PRIVILEGED = { containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }] };
const RESTRICTED = {
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [
    {
      name: 'c',
      image: 'i',
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    },
  ],
};
const withImage = (spec: { containers: JsonObject[] }, image: string): JsonObject => ({
  ...spec,
  containers: spec.containers.map((container) => ({ ...container, image })),
});
const podIn = (where: string, spec: JsonObject) =>
  toObject({ metadata: { name: 'p', namespace: where }, spec });
const deploymentIn = (where: string, spec: JsonObject) =>
  toObject({ metadata: { name: 'd', namespace: where }, spec: { template: { metadata: {}, spec } } });

const FOUND_BASELINE = 'privileged (container "c" must not set securityContext.privileged=true)';
const FOUND_RESTRICTED =
  `${FOUND_BASELINE}, allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), ` +
  'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), ' +
  'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), ' +
  'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")';
const wouldViolate = (policy: string, found: string): string =>
  `would violate PodSecurity "${policy}": ${found}`;

test.each<[string, string, JsonObject, Partial<AdmissionAttributes>, Omit<Outcome, 'refused'>, string?]>([
  ['an exempt namespace', 'exempt', PRIVILEGED, {}, { warnings: [], annotations: { exempt: 'namespace' } }],
  [
    'an exempt user',
    'restricted',
    PRIVILEGED,
    { user: { username: 'exempt-user', uid: '', groups: [], extra: {} } },
    { warnings: [], annotations: { exempt: 'user' } },
  ],
  [
    'an exempt runtime class',
    'restricted',
    { ...PRIVILEGED, runtimeClassName: 'sandbox' },
    {},
    { warnings: [], annotations: { exempt: 'runtimeClass' } },
  ],
  ['a status', 'restricted', PRIVILEGED, { subresource: 'status' }, { warnings: [], annotations: {} }],
  ['a binding', 'restricted', PRIVILEGED, { subresource: 'binding' }, { warnings: [], annotations: {} }],
  [
    'no labels',
    'implicit',
    PRIVILEGED,
    {},
    { warnings: [], annotations: { 'enforce-policy': 'privileged:latest' } },
  ],
  [
    'everything is allowed, since a version',
    'privileged',
    PRIVILEGED,
    {},
    { warnings: [], annotations: { 'enforce-policy': 'privileged:latest' } },
  ],
  [
    'an update of nothing that matters',
    'restricted',
    { ...PRIVILEGED, tolerations: [{ operator: 'Exists' }] },
    { operation: 'UPDATE', old: podIn('restricted', PRIVILEGED) },
    { warnings: [], annotations: {} },
  ],
  [
    'another image of what may not be',
    'restricted',
    withImage(PRIVILEGED, 'other'),
    { operation: 'UPDATE', old: podIn('restricted', PRIVILEGED) },
    {
      warnings: [],
      annotations: {
        'enforce-policy': 'restricted:latest',
        'audit-violations': wouldViolate('restricted:latest', FOUND_RESTRICTED),
      },
    },
    `violates PodSecurity "restricted:latest": ${FOUND_RESTRICTED}`,
  ],
  [
    'another image of what may be',
    'restricted',
    withImage(RESTRICTED, 'other'),
    { operation: 'UPDATE', old: podIn('restricted', RESTRICTED) },
    { warnings: [], annotations: { 'enforce-policy': 'restricted:latest' } },
  ],
  [
    'a container to look around with',
    'baseline',
    { ...BASELINE, ephemeralContainers: [{ name: 'e', image: 'i', securityContext: { privileged: true } }] },
    { operation: 'UPDATE', subresource: 'ephemeralcontainers', old: podIn('baseline', BASELINE) },
    {
      warnings: [],
      annotations: {
        'enforce-policy': 'baseline:latest',
        'audit-violations': wouldViolate(
          'baseline:latest',
          'privileged (container "e" must not set securityContext.privileged=true)',
        ),
      },
    },
    'violates PodSecurity "baseline:latest": privileged (container "e" must not set securityContext.privileged=true)',
  ],
  [
    'labels that cannot be read',
    'unreadable',
    BASELINE,
    {},
    {
      warnings: [],
      annotations: {
        'enforce-policy': 'restricted:latest',
        error:
          'Failed to parse policy: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "not-a-level": ' +
          'must be one of privileged, baseline, restricted',
      },
    },
    `violates PodSecurity "restricted:latest": ${FOUND_RESTRICTED.slice(FOUND_BASELINE.length + 2)}`,
  ],
  [
    'allowed',
    'baseline',
    BASELINE,
    {},
    { warnings: [], annotations: { 'enforce-policy': 'baseline:latest' } },
  ],
  [
    'warned of',
    'warned',
    PRIVILEGED,
    {},
    {
      warnings: [wouldViolate('baseline:latest', FOUND_BASELINE)],
      annotations: { 'enforce-policy': 'privileged:latest' },
    },
  ],
  [
    'recorded',
    'audited',
    PRIVILEGED,
    {},
    {
      warnings: [],
      annotations: {
        'enforce-policy': 'privileged:latest',
        'audit-violations': wouldViolate('baseline:latest', FOUND_BASELINE),
      },
    },
  ],
])('a pod: %s', async (_, where, spec, attributes, expected, refused) => {
  const object = podIn(where, spec);
  const outcome = await outcomeOf(make({}), 'pods', { ...attributes, object });
  const refusal = { code: 403, reason: 'Forbidden', message: `pods "p" is forbidden: ${refused}` };
  expect(outcome).toEqual(refused === undefined ? expected : { ...expected, refused: refusal });
});

test.each<[string, string, JsonObject | undefined, Partial<AdmissionAttributes>, Omit<Outcome, 'refused'>]>([
  ['an exempt namespace', 'exempt', PRIVILEGED, {}, { warnings: [], annotations: { exempt: 'namespace' } }],
  ['a scale', 'restricted', PRIVILEGED, { subresource: 'scale' }, { warnings: [], annotations: {} }],
  ['no labels', 'implicit', PRIVILEGED, {}, { warnings: [], annotations: {} }],
  ['no template', 'restricted', undefined, {}, { warnings: [], annotations: {} }],
  [
    'pods that would be refused',
    'restricted',
    PRIVILEGED,
    {},
    {
      warnings: [wouldViolate('restricted:latest', FOUND_RESTRICTED)],
      annotations: { 'audit-violations': wouldViolate('restricted:latest', FOUND_RESTRICTED) },
    },
  ],
  [
    'an update that changes nothing',
    'warned',
    PRIVILEGED,
    { operation: 'UPDATE', old: deploymentIn('warned', PRIVILEGED) },
    { warnings: [wouldViolate('baseline:latest', FOUND_BASELINE)], annotations: {} },
  ],
])('a deployment is talked about, never refused: %s', async (_, where, spec, attributes, expected) => {
  const object =
    spec === undefined
      ? toObject({ metadata: { name: 'd', namespace: where }, spec: {} })
      : deploymentIn(where, spec);
  expect(await outcomeOf(make({}), 'apps/deployments', { ...attributes, object })).toEqual(expected);
});

test.each<[string, JsonObject]>([
  ['replicationcontrollers', { spec: { template: { spec: PRIVILEGED } } }],
  ['podtemplates', { template: { spec: PRIVILEGED } }],
  ['apps/replicasets', { spec: { template: { spec: PRIVILEGED } } }],
  ['apps/statefulsets', { spec: { template: { spec: PRIVILEGED } } }],
  ['apps/daemonsets', { spec: { template: { spec: PRIVILEGED } } }],
  ['batch/jobs', { spec: { template: { spec: PRIVILEGED } } }],
  ['batch/cronjobs', { spec: { jobTemplate: { spec: { template: { spec: PRIVILEGED } } } } }],
])('%s are talked about', async (resource, manifest) => {
  const object = toObject({ metadata: { name: 'w', namespace: 'warned' }, ...manifest });
  expect((await outcomeOf(make({}), resource, { object })).warnings).toEqual([
    wouldViolate('baseline:latest', FOUND_BASELINE),
  ]);
});

test('where the namespace cannot be found, a pod is refused and a workload is not', async () => {
  const plugin = make({});
  expect(await outcomeOf(plugin, 'pods', { object: podIn('lost', BASELINE) })).toEqual({
    refused: {
      code: 500,
      reason: 'InternalError',
      message: 'Internal error occurred: failed to lookup namespace "lost"',
    },
    warnings: [],
    annotations: {
      error: 'Internal error occurred: failed to lookup namespace "lost": namespaces "lost" not found',
    },
  });
  expect(await outcomeOf(plugin, 'apps/deployments', { object: deploymentIn('lost', BASELINE) })).toEqual({
    warnings: [],
    annotations: { error: 'failed to lookup namespace "lost": namespaces "lost" not found' },
  });
});

test('where the namespace cannot be read now, what storage said is thrown as it is', async () => {
  const away = new StorageError({ kind: 'unavailable', reason: 'the database is gone' });
  const cluster = new FakeCluster({});
  cluster.find = () => Promise.reject(away);
  const pod = attributesOf('pods', { object: podIn('lost', BASELINE) });
  await expect(refusalOf(make({ cluster }), pod)).rejects.toBe(away);
});

const review = (plugin: AdmissionPlugin, now: Record<string, string>, before?: Record<string, string>) =>
  outcomeOf(plugin, 'namespaces', {
    object: toObject(namespace('test', now)),
    ...(before === undefined ? {} : { operation: 'UPDATE', old: toObject(namespace('test', before)) }),
  });

const violator = (name: string, spec: JsonObject = {}, controller?: string): JsonObject => ({
  metadata: {
    name,
    ownerReferences: controller === undefined ? [] : [{ uid: controller, controller: true }],
  },
  spec: { ...BASELINE, hostPID: true, ...spec },
});
const PODS = [
  violator('none'),
  violator('class1', { runtimeClassName: 'sandbox' }),
  violator('class2', { runtimeClassName: 'class2' }),
  violator('class3', { hostNetwork: true, ...PRIVILEGED }),
  { metadata: { name: 'good' }, spec: RESTRICTED },
];
const EXISTING = (policy: string): string =>
  `existing pods in namespace "test" violate the new PodSecurity enforce level "${policy}"`;

test.each<[string, Record<string, string>, Record<string, string> | undefined, string[], string?]>([
  ['created with labels', { enforce: 'restricted', 'enforce-version': 'v1.0' }, undefined, []],
  [
    'created with a level that is none',
    { enforce: 'unknown' },
    undefined,
    [],
    'metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "unknown": must be one of privileged, baseline, restricted',
  ],
  [
    'created with a version that is none',
    { enforce: 'privileged', 'enforce-version': 'unknown' },
    undefined,
    [],
    'metadata.labels[pod-security.kubernetes.io/enforce-version]: Invalid value: "unknown": must be "latest" or "v1.x"',
  ],
  ['nothing changes', { enforce: 'restricted' }, { enforce: 'restricted' }, []],
  ['nothing changes, unreadably', { enforce: 'unknown' }, { enforce: 'unknown' }, []],
  ['less strict', { enforce: 'baseline' }, { enforce: 'restricted' }, []],
  [
    'everything is allowed',
    { enforce: 'privileged' },
    { enforce: 'restricted', 'enforce-version': 'v1.0' },
    [],
  ],
  ['no labels any more', {}, { enforce: 'restricted', 'enforce-version': 'v1.0' }, []],
  [
    'a level that is none',
    { enforce: 'unknown' },
    { enforce: 'restricted' },
    [],
    'metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "unknown": must be one of privileged, baseline, restricted',
  ],
  [
    'stricter',
    { enforce: 'baseline' },
    {},
    [
      EXISTING('baseline:latest'),
      'class2 (and 1 other pod): host namespaces',
      'class3: host namespaces, privileged',
    ],
  ],
  [
    'another version',
    { enforce: 'baseline', 'enforce-version': 'v1.5' },
    { enforce: 'restricted' },
    [
      EXISTING('baseline:v1.5'),
      'class2 (and 1 other pod): host namespaces',
      'class3: host namespaces, privileged',
    ],
  ],
])('a namespace: %s', async (_, now, before, warnings, refused) => {
  const config = { ...CONFIG, exemptions: { runtimeClasses: ['sandbox'] } };
  const outcome = await review(make({ config, pods: PODS }), now, before);
  const message = `Namespace "test" is invalid: ${refused}`;
  expect(outcome).toEqual({
    warnings,
    annotations: {},
    ...(refused === undefined ? {} : { refused: { code: 422, reason: 'Invalid', message } }),
  });
});

test('labels of an exempt namespace are warned of, those that ask for something', async () => {
  const asked = { enforce: 'restricted', 'enforce-version': 'v1.0', audit: 'restricted', warn: 'baseline' };
  const text = (policy: string): string[] => [
    `namespace "test" is exempt from Pod Security, and the policy (${policy}) will be ignored`,
  ];
  const plugin = make({ pods: PODS });
  expect((await review(plugin, asked, {})).warnings).toEqual(
    text('enforce=restricted:v1.0, audit=restricted:latest, warn=baseline:latest'),
  );
  expect((await review(plugin, { enforce: 'baseline' })).warnings).toEqual(text('enforce=baseline:latest'));
  expect((await review(plugin, { warn: 'baseline' })).warnings).toEqual(text('warn=baseline:latest'));
  expect((await review(plugin, { enforce: 'privileged', 'warn-version': 'v1.25' })).warnings).toEqual([]);
  const defaults = { enforce: 'baseline', audit: 'baseline', warn: 'baseline' };
  const strict = make({ config: { ...CONFIG, defaults } });
  expect((await review(strict, {})).warnings).toEqual([]);
});

const STRICTER = [{ enforce: 'baseline' }, {}] as const;
const open = { ...CONFIG, exemptions: { runtimeClasses: ['sandbox'] } };

test('only so many pods are examined, and one pod of each controller before a second one of any', async () => {
  const pods = [
    ...[1, 2, 3, 4].map((at) => violator(`exempt${at}`, { runtimeClassName: 'sandbox' })),
    ...[1, 2, 3, 4].map((at) => violator(`set1-${at}`, { hostIPC: true }, 'one')),
    ...[1, 2, 3, 4].map((at) => violator(`set2-${at}`, PRIVILEGED, 'two')),
    ...[1, 2, 3, 4].map((at) => violator(`unique${at}`)),
  ];
  const plugin = make({ config: open, pods, bounds: { mostPods: 4, mostMs: 1000 } });
  expect((await review(plugin, ...STRICTER)).warnings).toEqual([
    'new PodSecurity enforce level only checked against the first 4 of 12 existing pods',
    EXISTING('baseline:latest'),
    'set1-1 (and 2 other pods): host namespaces',
    'set2-1: host namespaces, privileged',
  ]);
});

test('only so long are pods looked at', async () => {
  let now = 0;
  // Every look at the clock takes 50 of the 1000 ms, and there are several for a pod.
  const clock = (): number => {
    now += 50;
    return now;
  };
  const pods = Array.from({ length: 1000 }, (_, at) => violator(`p${String(at).padStart(3, '0')}`));
  const { warnings } = await review(make({ config: open, pods, clock }), ...STRICTER);
  expect(warnings[0]).toMatch(
    /^new PodSecurity enforce level only checked against the first [1-9] of 1000 existing pods$/,
  );
  expect(warnings[2]).toMatch(/^p000 \(and [1-9] other pods?\): host namespaces$/);
});

test('a namespace can be labelled even if its pods cannot be listed', async () => {
  const plugin = make({ config: open, pods: 'unavailable' });
  expect(await review(plugin, ...STRICTER)).toEqual({
    warnings: ['failed to list pods while checking new PodSecurity enforce level'],
    annotations: {},
  });
});

test('evaluations, exemptions and errors are counted', async () => {
  const registry = new Registry();
  const plugin = make({ registry });
  expect((await registry.metrics()).match(/^pod_security_\w+_total.*/gm)).toEqual([
    expect.stringMatching(
      /^pod_security_evaluations_total\{decision="allow",.*"create",resource="pod",.* 0$/,
    ),
    expect.stringMatching(
      /^pod_security_evaluations_total\{decision="allow",.*"update",resource="pod",.* 0$/,
    ),
    'pod_security_exemptions_total{request_operation="create",resource="pod",subresource=""} 0',
    'pod_security_exemptions_total{request_operation="update",resource="pod",subresource=""} 0',
    'pod_security_exemptions_total{request_operation="create",resource="controller",subresource=""} 0',
    'pod_security_exemptions_total{request_operation="update",resource="controller",subresource=""} 0',
  ]);
  await outcomeOf(plugin, 'pods', { object: podIn('implicit', PRIVILEGED) });
  await outcomeOf(plugin, 'pods', { object: podIn('restricted', PRIVILEGED) });
  await outcomeOf(plugin, 'pods', { object: podIn('exempt', PRIVILEGED) });
  await outcomeOf(plugin, 'apps/deployments', { object: deploymentIn('unreadable', PRIVILEGED) });
  const text = await registry.metrics();
  const request = (resource: string): string =>
    `request_operation="create",resource="${resource}",subresource=""} 1`;
  const evaluated = (decision: string, level: string, mode: string): string =>
    `pod_security_evaluations_total{decision="${decision}",policy_level="${level}",policy_version="latest",mode="${mode}",${request('pod')}`;
  expect(text).toContain(evaluated('allow', 'privileged', 'enforce'));
  expect(text).toContain(evaluated('deny', 'restricted', 'enforce'));
  expect(text).toContain(evaluated('deny', 'restricted', 'audit'));
  expect(text).not.toContain('mode="warn"');
  expect(text).toContain(`pod_security_exemptions_total{${request('pod')}`);
  expect(text).toContain(`pod_security_errors_total{fatal="false",${request('controller')}`);
});

test('a pod of a namespace without labels is allowed without waiting', () => {
  const plugin = make({});
  const write = attributesOf('pods', { object: podIn('implicit', BASELINE) });
  expect(plugin.validate?.(write)).toBeUndefined();
});
