import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object-meta.ts';
import type { DaemonSet } from '../../src/api/types/apps/v1.ts';
import { controllerrevisions } from '../../src/resources/apps/controller-revision.ts';
import { daemonsets } from '../../src/resources/apps/daemon-set.ts';
import { deployments } from '../../src/resources/apps/deployment.ts';
import { replicasets } from '../../src/resources/apps/replica-set.ts';
import { statefulsets } from '../../src/resources/apps/stateful-set.ts';
import { replicationcontrollers } from '../../src/resources/core/replication-controller.ts';
import { created, problemsOnCreate, problemsOnUpdate } from '../kit/manifests.ts';
import { podSpec, problemsOnStatus, replaced, selector, template } from './workload-manifests.ts';

const spec = { selector, template };
const mismatch =
  'spec.template.metadata.labels: Invalid value: map[string]string{"app":"web"}: `selector` does not match template `labels`';
const WEB_SELECTOR =
  'v1.LabelSelector{MatchLabels:map[string]string{"app":"api"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}';

const rolling = (type: string, rollingUpdate: JsonObject): JsonObject => ({ type, rollingUpdate });

test('good manifests of all kinds have no problems', () => {
  for (const definition of [deployments, replicasets, daemonsets]) {
    expect(problemsOnCreate(definition, { spec })).toEqual([]);
  }
  const claims = [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'] } }];
  expect(
    problemsOnCreate(statefulsets, { spec: { ...spec, serviceName: 'web', volumeClaimTemplates: claims } }),
  ).toEqual([]);
  // A stateful set without a service is of little use, but was never refused.
  expect(problemsOnCreate(statefulsets, { spec })).toEqual([]);
  expect(problemsOnCreate(replicationcontrollers, { spec: { template } })).toEqual([]);
  expect(problemsOnCreate(controllerrevisions, { data: { spec: {} }, revision: 1 })).toEqual([]);
});

test.each([
  [
    'negative numbers',
    { replicas: -1, minReadySeconds: -2, revisionHistoryLimit: -3 },
    [
      'spec.minReadySeconds: Invalid value: -2: must be greater than or equal to 0',
      'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      'spec.revisionHistoryLimit: Invalid value: -3: must be greater than or equal to 0',
    ],
  ],
  ['no selector', { selector: null }, ['spec.selector: Required value', mismatch]],
  [
    'an empty selector',
    { selector: {} },
    [
      'spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: empty selector is invalid for deployment',
    ],
  ],
  ['a selector of other pods', { selector: { matchLabels: { app: 'api' } } }, [mismatch]],
  [
    'a selector that is none',
    { selector: { matchExpressions: [{ key: 'app', operator: 'In' }] } },
    [
      "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      'spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement{v1.LabelSelectorRequirement{Key:"app", Operator:"In", Values:[]string(nil)}}}: invalid label selector',
    ],
  ],
  [
    'pods that end',
    { template: { ...template, spec: { ...podSpec, restartPolicy: 'Never', activeDeadlineSeconds: 5 } } },
    [
      'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported',
      'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
    ],
  ],
  [
    'recreation step by step',
    { strategy: rolling('Recreate', { maxSurge: 1 }) },
    ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
  ],
  [
    'steps of nothing',
    { strategy: rolling('RollingUpdate', { maxSurge: 0, maxUnavailable: '0%' }) },
    [
      'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"0%"}: may not be 0 when `maxSurge` is 0',
    ],
  ],
  [
    'more than all',
    { strategy: rolling('RollingUpdate', { maxSurge: '120%', maxUnavailable: '101%' }) },
    [
      'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"101%"}: must not be greater than 100%',
    ],
  ],
  [
    'half a percentage',
    { strategy: rolling('RollingUpdate', { maxSurge: -1, maxUnavailable: '5' }) },
    [
      'spec.strategy.rollingUpdate.maxSurge: Invalid value: -1: must be greater than or equal to 0',
      "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:\"5\"}: a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
    ],
  ],
  [
    'a deadline before pods are available',
    { minReadySeconds: 600 },
    ['spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds'],
  ],
  [
    'no template',
    { template: null },
    [
      'spec.template.metadata.labels: Invalid value: map[string]string(nil): `selector` does not match template `labels`',
      'spec.template.spec.containers: Required value',
    ],
  ],
])('a deployment with %s is refused', (_, change, lines) => {
  expect(problemsOnCreate(deployments, { spec: { ...spec, ...change } })).toEqual(lines);
});

test('the selector of a deployment, a replica set and a daemon set never changes', () => {
  const other = {
    selector: { matchLabels: { app: 'api' } },
    template: { ...template, metadata: { labels: { app: 'api' } } },
  };
  for (const definition of [deployments, replicasets, daemonsets]) {
    expect(problemsOnUpdate(definition, { spec }, { spec: other })).toEqual([
      `spec.selector: Invalid value: ${WEB_SELECTOR}: field is immutable`,
    ]);
    const scaled = definition === daemonsets ? { ...spec, minReadySeconds: 3 } : { ...spec, replicas: 3 };
    expect(problemsOnUpdate(definition, { spec }, { spec: scaled })).toEqual([]);
  }
});

test('annotations of a deployment count as a change of what is wanted', () => {
  const old = created(deployments, { metadata: { generation: 4 }, spec });
  const annotated = replaced(deployments, old, {
    metadata: { annotations: { a: 'b' }, generation: 4 },
    spec,
  });
  expect(annotated.metadata.generation).toBe(5);
  expect(replaced(deployments, old, { metadata: { generation: 4 }, spec }).metadata.generation).toBe(4);
});

test('the labels of a deployment do not change with its status', () => {
  const old = created(deployments, { metadata: { labels: { a: 'b' } }, spec });
  const status = deployments.subresources.find(({ name }) => name === 'status');
  if (status?.access !== 'view') throw new Error('no status');
  const view = { ...old, metadata: { ...old.metadata, labels: { c: 'd' } }, status: { replicas: 2 } };
  const written = status.write(view, old);
  expect(written.metadata.labels).toEqual({ a: 'b' });
  expect(written.status).toEqual({ replicas: 2 });
});

test('a status whose parts exceed the whole is refused', () => {
  const shares = (names: string[]): string[] =>
    names.map((name) => `status.${name}: Invalid value: 3: cannot be greater than status.replicas`);
  const available = 'status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas';
  const status = {
    replicas: 2,
    readyReplicas: 2,
    availableReplicas: 3,
    updatedReplicas: 3,
    collisionCount: 1,
  };
  expect(problemsOnStatus(deployments, { spec, status: { collisionCount: 2 } }, status)).toEqual([
    available,
    ...shares(['availableReplicas']),
    'status.collisionCount: Invalid value: 1: cannot be decremented',
    ...shares(['updatedReplicas']),
  ]);
  const counts = { replicas: 2, fullyLabeledReplicas: 3, readyReplicas: 3, availableReplicas: -1 };
  for (const [definition, matching] of [
    [replicasets, selector],
    [replicationcontrollers, selector.matchLabels],
  ] as const) {
    expect(problemsOnStatus(definition, { spec: { template, selector: matching } }, counts)).toEqual([
      'status.availableReplicas: Invalid value: -1: must be greater than or equal to 0',
      ...shares(['fullyLabeledReplicas', 'readyReplicas']),
    ]);
  }
  expect(problemsOnStatus(statefulsets, { spec }, { replicas: 3, availableReplicas: 1 })).toEqual([
    'status.availableReplicas: Invalid value: 1: cannot be greater than status.readyReplicas',
  ]);
  expect(problemsOnStatus(daemonsets, { spec }, { numberReady: -1 })).toEqual([
    'status.numberReady: Invalid value: -1: must be greater than or equal to 0',
  ]);
});

test.each([
  [
    'one too many and one missing',
    { maxUnavailable: 1, maxSurge: 1 },
    [
      'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: intstr.IntOrString{Type:0, IntVal:1, StrVal:""}: may not be set when maxUnavailable is non-zero',
    ],
  ],
  [
    'neither',
    { maxUnavailable: 0 },
    ['spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0'],
  ],
  ['surge alone', { maxUnavailable: 0, maxSurge: '10%' }, []],
])('a daemon set replaces its pods with %s', (_, rollingUpdate, lines) => {
  const updateStrategy = rolling('RollingUpdate', rollingUpdate);
  expect(problemsOnCreate(daemonsets, { spec: { ...spec, updateStrategy } })).toEqual(lines);
});

test('the template generation of a daemon set rises with its template, also when the caller sets another', () => {
  const key = 'deprecated.daemonset.template.generation';
  // It is there when owners are noted, so that the creator owns it.
  const written = { metadata: { name: 'd' }, spec: structuredClone(spec) } as unknown as DaemonSet;
  daemonsets.strategy.defaults?.(written);
  expect(written.metadata.annotations).toEqual({ [key]: '0' });
  const old = created(daemonsets, { spec });
  expect(old.metadata.annotations).toEqual({ [key]: '1' });
  const claimed = { metadata: { annotations: { [key]: '7' } }, spec };
  expect(replaced(daemonsets, old, claimed).metadata.annotations).toEqual({ [key]: '1' });
  const changed = { spec: { ...spec, template: { ...template, spec: { ...podSpec, nodeName: 'a' } } } };
  expect(replaced(daemonsets, old, changed).metadata.annotations).toEqual({ [key]: '2' });
});

test.each([
  [
    'volumes of an unknown fate',
    { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Keep' } },
    [
      'spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Keep": supported values: "Retain", "Delete"',
    ],
  ],
  [
    'steps without a rolling update',
    { updateStrategy: rolling('OnDelete', { partition: 2 }) },
    [
      "spec.updateStrategy.rollingUpdate: Invalid value: apps.RollingUpdateStatefulSetStrategy{Partition:2, MaxUnavailable:(*intstr.IntOrString)(nil)}: only allowed for updateStrategy 'RollingUpdate'",
    ],
  ],
  [
    'negative ordinals',
    { ordinals: { start: -1 }, updateStrategy: rolling('RollingUpdate', { partition: -1 }) },
    [
      'spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0',
      'spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0',
    ],
  ],
])('a stateful set with %s is refused', (_, change, lines) => {
  expect(problemsOnCreate(statefulsets, { spec: { ...spec, ...change } })).toEqual(lines);
});

test('a stateful set is named like a host, and what its pods depend on stays', () => {
  expect(problemsOnCreate(statefulsets, { metadata: { name: 'a.b' }, spec })[0]).toMatch(
    /^metadata\.name: Invalid value: "a\.b": must not contain dots/,
  );
  const forbidden =
    "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
  for (const change of [
    { serviceName: 'x' },
    { podManagementPolicy: 'Parallel' },
    { revisionHistoryLimit: 2 },
  ]) {
    expect(problemsOnUpdate(statefulsets, { spec }, { spec: { ...spec, ...change } })).toEqual([forbidden]);
  }
  const allowed = {
    replicas: 3,
    minReadySeconds: 1,
    ordinals: { start: 2 },
    updateStrategy: { type: 'OnDelete' },
  };
  expect(problemsOnUpdate(statefulsets, { spec }, { spec: { ...spec, ...allowed } })).toEqual([]);
});

test('a stateful set is completed as Kubernetes completes it', () => {
  const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: {} }];
  expect(created(statefulsets, { spec: { ...spec, volumeClaimTemplates } }).spec).toMatchObject({
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    volumeClaimTemplates: [
      {
        kind: 'PersistentVolumeClaim',
        apiVersion: 'v1',
        status: { phase: 'Pending' },
        spec: { volumeMode: 'Filesystem' },
      },
    ],
  });
  const updateStrategy = rolling('RollingUpdate', { partition: 1, maxUnavailable: 2 });
  expect(created(statefulsets, { spec: { ...spec, updateStrategy } }).spec).toMatchObject({
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } },
  });
});

test('a replication controller takes selector and labels from its template', () => {
  const controller = created(replicationcontrollers, { spec: { template } });
  expect(controller.metadata.labels).toEqual({ app: 'web' });
  expect(controller.spec).toMatchObject({ selector: { app: 'web' }, replicas: 1 });
  expect(problemsOnCreate(replicationcontrollers, { spec: {} })).toEqual([
    'spec.selector: Required value',
    'spec.template: Required value',
  ]);
  expect(problemsOnCreate(replicationcontrollers, { spec: { selector: { app: 'api' }, template } })).toEqual([
    mismatch,
  ]);
});

test('a revision holds an object and never another one', () => {
  expect(problemsOnCreate(controllerrevisions, { revision: -1 })).toEqual([
    'data: Required value: data is mandatory',
    'revision: Invalid value: -1: must be greater than or equal to 0',
  ]);
  expect(problemsOnCreate(controllerrevisions, { data: [1] })).toEqual([
    'data: Required value: data must be a valid JSON object',
  ]);
  expect(problemsOnUpdate(controllerrevisions, { data: { a: 1 } }, { data: { a: 2 } })).toEqual([
    'data: Invalid value: {"a":2}: field is immutable',
  ]);
  expect(problemsOnUpdate(controllerrevisions, { data: {} }, { data: {}, revision: 5 })).toEqual([]);
});

test('names with dots are warned of once, for pods take them over', () => {
  const dotted = created(deployments, { metadata: { name: 'a.b' }, spec });
  expect(deployments.strategy.warnings?.(dotted, undefined)[0]).toMatch(
    /^metadata\.name: this is used in Pod names and hostnames.*: \[must not contain dots\]$/,
  );
  expect(deployments.strategy.warnings?.(dotted, dotted)).toEqual([]);
});

test('tables show what kubectl prints', () => {
  const now = Date.parse('2026-01-01T00:01:00Z');
  const creationTimestamp = '2026-01-01T00:00:00Z';
  const set = created(replicasets, { metadata: { creationTimestamp }, spec });
  const status = { replicas: 2, readyReplicas: 1 };
  const row = ['it', 1, 2, 1, '60s', 'main', 'web:1', 'app=web'];
  expect(replicasets.cells({ ...set, status }, now)).toEqual(row);
  const controller = created(replicationcontrollers, { metadata: { creationTimestamp }, spec: { template } });
  expect(replicationcontrollers.cells({ ...controller, status }, now)).toEqual(row);
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u', controller: true };
  const metadata = { creationTimestamp, ownerReferences: [owner] };
  expect(
    controllerrevisions.cells(created(controllerrevisions, { metadata, data: {}, revision: 3 }), now),
  ).toEqual(['it', 'statefulset.apps/web', 3, '60s']);
});
