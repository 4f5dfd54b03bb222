import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import type { ResourceDefinition } from '../../src/registry/resource-definition.ts';
import { validatingadmissionpolicies } from '../../src/resources/admissionregistration/validating-admission-policy.ts';
import { mutatingwebhookconfigurations } from '../../src/resources/admissionregistration/webhook-configuration.ts';
import { daemonsets } from '../../src/resources/apps/daemon-set.ts';
import { deployments } from '../../src/resources/apps/deployment.ts';
import { horizontalpodautoscalers } from '../../src/resources/autoscaling/horizontal-pod-autoscaler/definition.ts';
import { cronjobs } from '../../src/resources/batch/cron-job.ts';
import { jobs } from '../../src/resources/batch/job/definition.ts';
import { persistentvolumeclaims } from '../../src/resources/core/persistent-volume-claim/definition.ts';
import { ingresses } from '../../src/resources/networking/ingress.ts';
import { networkpolicies } from '../../src/resources/networking/network-policy.ts';
import { pods } from '../../src/resources/pod/definition.ts';
import { poddisruptionbudgets } from '../../src/resources/policy/pod-disruption-budget.ts';
import { clusterroles } from '../../src/resources/rbac/role.ts';
import { csistoragecapacities } from '../../src/resources/storage/csi-storage-capacity.ts';
import { created, updated } from '../kit/manifests.ts';
import { varyAll } from '../kit/variations.ts';
import { selector, template } from './workload-manifests.ts';

/** Rules that came late: an object stored before them may be changed in other places, and none may begin to break them. */

type Changes = Readonly<Record<string, JsonValue | undefined>>;

const workload = { spec: { selector, template } };
const POD_SPEC = 'spec.template.spec';
const badSelector = { matchExpressions: [{ key: 'a', operator: 'In', values: ['not a label!'] }] };
const affinity = (kind: string): JsonObject => ({
  [kind]: {
    requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone', labelSelector: badSelector }],
  },
});
const hook = {
  name: 'a.example.com',
  clientConfig: { url: 'https://example.com' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
};
const autoscaler = {
  spec: {
    scaleTargetRef: { kind: 'Deployment', name: 'web' },
    maxReplicas: 3,
    metrics: [
      { type: 'External', external: { metric: { name: 'q' }, target: { type: 'Value', value: '1' } } },
    ],
  },
};
const policy = {
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
    },
    validations: [{ expression: 'true' }],
  },
};

/** What is changed besides, so that the object is looked at. */
const OTHER: Readonly<Record<string, Changes>> = {
  deployments: { 'spec.minReadySeconds': 5 },
  daemonsets: { 'spec.minReadySeconds': 5 },
  pods: { 'spec.tolerations': [{ key: 'x', operator: 'Exists' }] },
};

const rows: readonly [string, ResourceDefinition, JsonObject, Changes][] = [
  [
    'a deletion cost that is no number',
    deployments,
    workload,
    { 'spec.template.metadata.annotations': { 'controller.kubernetes.io/pod-deletion-cost': 'much' } },
  ],
  [
    'huge pages that are no whole number of pages',
    deployments,
    workload,
    { [`${POD_SPEC}.containers.0.resources`]: { limits: { cpu: '1', 'hugepages-2Mi': '3Mi' } } },
  ],
  [
    'a value that is no label in the affinity to other pods',
    deployments,
    workload,
    { [`${POD_SPEC}.affinity`]: affinity('podAffinity') },
  ],
  [
    'a value that is no label in what pods keep away from',
    pods,
    { spec: template.spec },
    { 'spec.affinity': affinity('podAntiAffinity') },
  ],
  [
    'a value that is no label in a topology constraint',
    deployments,
    workload,
    {
      [`${POD_SPEC}.topologySpreadConstraints`]: [
        { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: badSelector },
      ],
    },
  ],
  [
    'a path of a token that leads out of its volume',
    deployments,
    workload,
    {
      [`${POD_SPEC}.volumes`]: [
        { name: 'v', projected: { sources: [{ serviceAccountToken: { path: '../../x' } }] } },
      ],
    },
  ],
  [
    'a parameter of the kernel that is the host’s',
    deployments,
    workload,
    {
      [`${POD_SPEC}.hostNetwork`]: true,
      [`${POD_SPEC}.securityContext`]: { sysctls: [{ name: 'net.ipv4.tcp_syncookies', value: '1' }] },
    },
  ],
  [
    'a variable whose name no shell takes',
    deployments,
    workload,
    { [`${POD_SPEC}.containers.0.env`]: [{ name: 'a b', value: '1' }] },
  ],
  [
    'a value that is no label in a daemon set’s selector',
    daemonsets,
    workload,
    { 'spec.selector.matchExpressions': [{ key: 'app', operator: 'NotIn', values: ['not a label!'] }] },
  ],
  [
    'a time zone in the schedule',
    cronjobs,
    {
      spec: {
        schedule: '* * * * *',
        jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } },
      },
    },
    { 'spec.schedule': 'TZ=UTC * * * * *' },
  ],
  [
    'an unknown time zone',
    cronjobs,
    {
      spec: {
        schedule: '* * * * *',
        jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } },
      },
    },
    { 'spec.timeZone': 'Nowhere/Land' },
  ],
  [
    'a group of a data source that is no name',
    persistentvolumeclaims,
    { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    { 'spec.dataSourceRef': { apiGroup: 'Not A Group', kind: 'X', name: 'x' } },
  ],
  [
    'a value that is no label in a claim’s selector',
    persistentvolumeclaims,
    { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    { 'spec.selector': badSelector },
  ],
  [
    'a selector of a network policy',
    networkpolicies,
    { spec: { podSelector: {} } },
    { 'spec.podSelector': badSelector },
  ],
  [
    'a selector of a disruption budget',
    poddisruptionbudgets,
    { spec: { selector } },
    { 'spec.selector': badSelector },
  ],
  [
    'a selector of an aggregated role',
    clusterroles,
    { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } },
    { 'aggregationRule.clusterRoleSelectors': [badSelector] },
  ],
  [
    'a topology of a storage capacity',
    csistoragecapacities,
    { storageClassName: 'x', nodeTopology: { matchLabels: { a: 'b' } } },
    { nodeTopology: badSelector },
  ],
  [
    'a secret of an ingress whose name is none',
    ingresses,
    { spec: { defaultBackend: { service: { name: 'x', port: { number: 80 } } } } },
    { 'spec.tls': [{ secretName: 'Not A Name' }] },
  ],
  [
    'a path below a host with a wildcard',
    ingresses,
    { spec: { defaultBackend: { service: { name: 'x', port: { number: 80 } } } } },
    { 'spec.rules': [{ host: '*.example.com', http: { paths: [] } }] },
  ],
  [
    'side effects of a webhook',
    mutatingwebhookconfigurations,
    { webhooks: [hook] },
    { 'webhooks.0.sideEffects': 'Some' },
  ],
  [
    'unknown versions of reviews',
    mutatingwebhookconfigurations,
    { webhooks: [hook] },
    { 'webhooks.0.admissionReviewVersions': ['v0'] },
  ],
  [
    'two webhooks of one name',
    mutatingwebhookconfigurations,
    { webhooks: [hook, { ...hook, name: 'b.example.com' }] },
    { 'webhooks.1.name': 'a.example.com' },
  ],
  [
    'a condition of a webhook without an expression',
    mutatingwebhookconfigurations,
    { webhooks: [hook] },
    { 'webhooks.0.matchConditions': [{ name: 'x', expression: '' }] },
  ],
  [
    'a condition of a policy without an expression',
    validatingadmissionpolicies,
    policy,
    { 'spec.matchConditions': [{ name: 'x', expression: '' }] },
  ],
  ['an autoscaler that scales to nothing', horizontalpodautoscalers, autoscaler, { 'spec.minReplicas': 0 }],
];

function problems(definition: ResourceDefinition, before: JsonObject, after: JsonObject): string[] {
  const old = created(definition, before);
  const next = updated(definition, before, after);
  return (definition.strategy.validate?.(next, old) ?? []).map(
    ({ field, message }) => `${field}: ${message}`,
  );
}

describe.each(rows)('%s', (_, definition, good, broken) => {
  const bad = varyAll(good, broken);
  const other = OTHER[definition.resource] ?? { 'metadata.labels': { changed: 'yes' } };

  test('was accepted once and may stay', () => {
    expect(problems(definition, bad, varyAll(bad, other))).toEqual([]);
  });

  test('is refused where it is new', () => {
    expect(definition.strategy.validate?.(created(definition, bad))).not.toEqual([]);
    expect(problems(definition, good, bad)).not.toEqual([]);
  });
});

test('a job made before its labels had prefixes may be changed', () => {
  const job = {
    metadata: { uid: 'u' },
    spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } },
  };
  const old = created(jobs, job);
  const labels = { 'controller-uid': 'u', 'job-name': 'it' };
  const without = {
    ...old,
    spec: varyAll(old, {
      'spec.template.metadata.labels': labels,
      'spec.selector': { matchLabels: { 'controller-uid': 'u' } },
    }).spec as JsonObject,
  };
  const next = { ...without, spec: { ...without.spec, backoffLimit: 1 } };
  const left = jobs.strategy.validate?.(next, without) ?? [];
  expect(left.filter(({ field }) => field.includes('metadata.labels'))).toEqual([]);
  expect(jobs.strategy.validate?.(next, old)).not.toEqual([]);
});
