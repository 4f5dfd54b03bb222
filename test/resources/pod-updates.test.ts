import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import { objectAt, objectsOf } from '../../src/object/json-values.ts';
import { pods } from '../../src/resources/pod/definition.ts';
import { created, problemsOnUpdate } from '../kit/manifests.ts';
import { vary, varyAll } from '../kit/variations.ts';
import { SMALL } from './pod-manifests.ts';

const listIn = (object: JsonObject, name: string): readonly JsonObject[] => objectsOf(object[name]);

describe('an update of a pod', () => {
  const before = varyAll(SMALL, {
    'spec.tolerations': [{ key: 'a', operator: 'Exists', effect: 'NoExecute' }],
    'spec.schedulingGates': [{ name: 'one' }, { name: 'two' }],
    'spec.activeDeadlineSeconds': 100,
    'spec.nodeSelector': { disk: 'fast' },
  });

  test.each<[string, Record<string, JsonValue | undefined>]>([
    ['an image', { 'spec.containers.0.image': 'nginx:1.28' }],
    ['an earlier deadline', { 'spec.activeDeadlineSeconds': 50 }],
    ['more tolerations', { 'spec.tolerations.1': { key: 'b', operator: 'Exists' } }],
    ['how long something is tolerated', { 'spec.tolerations.0.tolerationSeconds': 5 }],
    ['a gate less', { 'spec.schedulingGates': [{ name: 'two' }] }],
    ['no gates at all', { 'spec.schedulingGates': undefined }],
    ['fewer nodes while it is gated', { 'spec.nodeSelector.zone': 'a' }],
    ['labels', { 'metadata.labels': { a: 'b' } }],
  ])('may bring %s', (_, changes) => {
    expect(problemsOnUpdate(pods, before, varyAll(before, changes))).toEqual([]);
  });

  const OTHER =
    'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';
  test.each<[string, Record<string, JsonValue | undefined>, string[]]>([
    ['another command', { 'spec.containers.0.command': ['sh'] }, [OTHER]],
    ['another node', { 'spec.nodeName': 'b' }, [OTHER]],
    [
      'more containers',
      { 'spec.containers.1': { name: 'b', image: 'b' } },
      ['spec.containers: Forbidden: pod updates may not add or remove containers'],
    ],
    [
      'a later deadline',
      { 'spec.activeDeadlineSeconds': 200 },
      ['spec.activeDeadlineSeconds: Invalid value: 200: must be less than or equal to previous value'],
    ],
    [
      'no deadline any more',
      { 'spec.activeDeadlineSeconds': undefined },
      [
        'spec.activeDeadlineSeconds: Invalid value: "null": must not update from a positive integer to nil value',
      ],
    ],
    [
      'fewer tolerations',
      { 'spec.tolerations': undefined },
      ['spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds'],
    ],
    [
      'another gate',
      { 'spec.schedulingGates.2': { name: 'three' } },
      [
        "spec.schedulingGates[2].name: Forbidden: only deletion is allowed, but found new scheduling gate 'three'",
      ],
    ],
    [
      'other nodes',
      { 'spec.nodeSelector.disk': 'slow' },
      [
        'spec.nodeSelector: Invalid value: map[string]string{"disk":"slow"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
      ],
    ],
    [
      'another class of service',
      { 'spec.containers.0.resources': { requests: { cpu: '1' } } },
      ['metadata: Invalid value: "BestEffort": Pod QoS is immutable', OTHER],
    ],
    ['no image', { 'spec.containers.0.image': '' }, ['spec.containers[0].image: Required value']],
    [
      'an annotation of a mirror',
      { 'spec.nodeName': undefined, 'metadata.annotations': { 'kubernetes.io/config.mirror': 'a' } },
      [
        'metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod annotation',
        'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "a": must set spec.nodeName if mirror pod annotation is set',
      ],
    ],
  ])('may not bring %s', (_, changes, problems) => {
    expect(problemsOnUpdate(pods, before, varyAll(before, changes))).toEqual(problems);
  });

  test('may not move a pod to other nodes once nothing gates it', () => {
    expect(problemsOnUpdate(pods, SMALL, vary(SMALL, 'spec.nodeSelector', { zone: 'a' }))).toEqual([OTHER]);
  });
});

const viewOf = (name: string) => {
  const view = pods.subresources.find((one) => one.name === name);
  if (view?.access !== 'view') throw new Error(`pods have no view ${name}`);
  return view;
};

/** What writing `status` to a pod that has `before` answers. */
function writeStatus(manifest: JsonObject, before: JsonObject, status: JsonObject) {
  const old = { ...created(pods, manifest), status: before };
  const object = viewOf('status').write({ ...structuredClone(old), status }, old);
  const errors = viewOf('status').validate?.(object, old) ?? [];
  return { object, problems: errors.map(({ field, message }) => `${field}: ${message}`) };
}

describe('a status of a pod', () => {
  const ended = { name: 'main', state: { terminated: { exitCode: 0 } } };
  const running = { name: 'main', state: { running: {} } };
  const once = vary(SMALL, 'spec.restartPolicy', 'Never');

  test('may not revive what ended for good', () => {
    const { problems } = writeStatus(once, { containerStatuses: [ended] }, { containerStatuses: [running] });
    expect(problems).toEqual([
      'status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state',
    ]);
  });

  test('may revive what is always restarted', () => {
    const { problems } = writeStatus(SMALL, { containerStatuses: [ended] }, { containerStatuses: [running] });
    expect(problems).toEqual([]);
  });

  test('has at most one address of each family', () => {
    const { problems } = writeStatus(SMALL, {}, { podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] });
    expect(problems).toEqual([
      'status.podIPs: Invalid value: []core.PodIP{core.PodIP{IP:"10.0.0.1"}, core.PodIP{IP:"10.0.0.2"}}: may specify no more than one IP for each IP family',
    ]);
  });

  test('has its address in both forms, from either of them', () => {
    expect(writeStatus(SMALL, {}, { podIP: '10.0.0.1' }).object.status).toEqual({
      podIP: '10.0.0.1',
      podIPs: [{ ip: '10.0.0.1' }],
    });
    expect(writeStatus(SMALL, {}, { podIPs: [{ ip: 'fd00::1' }] }).object.status).toMatchObject({
      podIP: 'fd00::1',
    });
  });

  test('does not change who owns the pod', () => {
    const old = created(pods, SMALL);
    const view = structuredClone(old);
    view.metadata.ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'b' }];
    expect(viewOf('status').write(view, old).metadata.ownerReferences).toBeUndefined();
  });
});

describe('containers for debugging', () => {
  const view = viewOf('ephemeralcontainers');
  const pod = created(pods, SMALL);
  const add = (container: JsonObject) => {
    const wanted = structuredClone(pod);
    wanted.spec = { ...objectAt(wanted, 'spec'), nodeName: 'elsewhere', ephemeralContainers: [container] };
    return view.write(wanted, pod);
  };
  const debug = {
    name: 'debug',
    image: 'busybox',
    terminationMessagePolicy: 'File',
    targetContainerName: 'main',
  };

  test('are all that the subresource adds, with their defaults', () => {
    const spec = objectAt(add(debug), 'spec');
    expect(spec.nodeName).toBeUndefined();
    expect(listIn(spec, 'ephemeralContainers')).toMatchObject([{ name: 'debug', imagePullPolicy: 'Always' }]);
  });

  test.each<[JsonObject, string[]]>([
    [debug, []],
    [
      { ...debug, targetContainerName: 'x' },
      ['spec.ephemeralContainers[0].targetContainerName: Not found: "x"'],
    ],
    [
      { ...debug, ports: [{ containerPort: 80, protocol: 'TCP' }] },
      ['spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container'],
    ],
    [{ ...debug, name: 'main' }, ['spec.ephemeralContainers[0].name: Duplicate value: "main"']],
  ])('are validated: %j', (container, problems) => {
    const errors = pods.strategy.validate?.(add(container)) ?? [];
    expect(errors.map(({ field, message }) => `${field}: ${message}`)).toEqual(problems);
  });

  test('stay as they are once added', () => {
    const old = add(debug);
    expect(view.validate?.(add({ ...debug, image: 'alpine' }), old)).toMatchObject([
      { field: 'spec.ephemeralContainers', message: /may not be changed/ },
    ]);
    expect(view.validate?.(pod, old)).toMatchObject([{ message: /may not be removed/ }]);
    expect(view.validate?.(old, old)).toEqual([]);
  });
});
