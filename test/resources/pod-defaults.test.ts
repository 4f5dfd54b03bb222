import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import { objectAt, objectsOf } from '../../src/object/json-values.ts';
import { podtemplates } from '../../src/resources/core/pod-template.ts';
import { pods } from '../../src/resources/pod/definition.ts';
import { created, manifestsIn } from '../kit/manifests.ts';
import { vary, varyAll } from '../kit/variations.ts';
import { FULL, SMALL } from './pod-manifests.ts';

const listIn = (object: JsonObject, name: string): readonly JsonObject[] => objectsOf(object[name]);

describe('what a pod gets', () => {
  const specOf = (changes: Readonly<Record<string, JsonValue>>): JsonObject =>
    objectAt(created(pods, varyAll(SMALL, changes)), 'spec');

  test('a limit is a request, in a pod but not in a template', () => {
    const resources = { limits: { cpu: '1' } };
    expect(listIn(specOf({ 'spec.containers.0.resources': resources }), 'containers')[0]?.resources).toEqual({
      limits: { cpu: '1' },
      requests: { cpu: '1' },
    });
    const template = created(podtemplates, {
      template: vary(SMALL, 'spec.containers.0.resources', resources),
    });
    expect(listIn(objectAt(template, 'template', 'spec'), 'containers')[0]?.resources).toEqual(resources);
  });

  test.each([
    ['nginx', 'Always'],
    ['nginx:latest', 'Always'],
    ['nginx:1.27', 'IfNotPresent'],
    ['host:5000/nginx', 'Always'],
    ['nginx@sha256:0123', 'IfNotPresent'],
    ['nginx:latest@sha256:0123', 'Always'],
  ])('the image %s is pulled %s', (image, policy) => {
    expect(listIn(specOf({ 'spec.containers.0.image': image }), 'containers')[0]?.imagePullPolicy).toBe(
      policy,
    );
  });

  test('ports of the host on the network of the host', () => {
    const spec = specOf({ 'spec.hostNetwork': true, 'spec.containers.0.ports': [{ containerPort: 80 }] });
    expect(listIn(listIn(spec, 'containers')[0] ?? {}, 'ports')).toMatchObject([{ hostPort: 80 }]);
  });

  test('a second to end instead of less than none, which a template may say', () => {
    const negative = vary(SMALL, 'spec.terminationGracePeriodSeconds', -1);
    expect(objectAt(created(pods, negative), 'spec').terminationGracePeriodSeconds).toBe(1);
    const template = created(podtemplates, { template: negative });
    expect(objectAt(template, 'template', 'spec').terminationGracePeriodSeconds).toBe(-1);
  });

  test('no init containers from annotations, nor does a template', () => {
    const annotated = vary(SMALL, 'metadata.annotations', {
      a: 'b',
      'pod.beta.kubernetes.io/init-containers': '[]',
      'pod.alpha.kubernetes.io/init-container-statuses': '[]',
    });
    expect(objectAt(created(pods, annotated), 'metadata').annotations).toEqual({ a: 'b' });
    const template = created(podtemplates, { template: annotated });
    expect(objectAt(template, 'template', 'metadata').annotations).toEqual({ a: 'b' });
  });

  test('a request finer than thousandths is rounded up', () => {
    const spec = specOf({ 'spec.containers.0.resources': { requests: { cpu: '1500u' } } });
    expect(listIn(spec, 'containers')[0]?.resources).toEqual({ requests: { cpu: '2m' } });
  });

  test('a condition while gates hold it back', () => {
    const pod = created(pods, vary(SMALL, 'spec.schedulingGates', [{ name: 'a' }]));
    expect(objectAt(pod, 'status')).toMatchObject({
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }],
    });
  });

  test('its own labels in affinity that names keys', () => {
    const pod = created(pods, FULL);
    const terms = listIn(
      objectAt(pod, 'spec', 'affinity', 'podAffinity'),
      'requiredDuringSchedulingIgnoredDuringExecution',
    );
    expect(listIn(objectAt(terms[0], 'labelSelector'), 'matchExpressions').at(-1)).toEqual({
      key: 'track',
      operator: 'In',
      values: ['stable'],
    });
  });

  test('its AppArmor profile as an annotation, and an annotation as its profile', () => {
    const key = 'container.apparmor.security.beta.kubernetes.io/main';
    const annotated = created(
      pods,
      vary(SMALL, 'spec.securityContext', { appArmorProfile: { type: 'RuntimeDefault' } }),
    );
    expect(annotated.metadata.annotations).toEqual({ [key]: 'runtime/default' });
    const since34 = manifestsIn(34).created(
      pods,
      vary(SMALL, 'spec.securityContext', { appArmorProfile: { type: 'RuntimeDefault' } }),
    );
    expect(since34.metadata.annotations).toBeUndefined();
    const confined = created(pods, vary(SMALL, 'metadata.annotations', { [key]: 'localhost/mine' }));
    expect(listIn(objectAt(confined, 'spec'), 'containers')[0]?.securityContext).toEqual({
      appArmorProfile: { type: 'Localhost', localhostProfile: 'mine' },
    });
  });

  test.each<[string, JsonObject, string]>([
    ['nothing', {}, 'BestEffort'],
    ['a request', { requests: { cpu: '1' } }, 'Burstable'],
    [
      'equal limits in other words',
      { limits: { cpu: '1', memory: '1Gi' }, requests: { memory: '1073741824' } },
      'Guaranteed',
    ],
    ['a limit of one of both', { limits: { cpu: '1' } }, 'Burstable'],
  ])('a class of service by its resources: %s', (_, resources, qosClass) => {
    const pod = created(pods, vary(SMALL, 'spec.containers.0.resources', resources));
    expect(objectAt(pod, 'status').qosClass).toBe(qosClass);
  });

  test.each([
    [undefined, 30],
    [5, 5],
    [0, 0],
    [-3, 1],
  ])('seconds to end when %s are asked for: %s', (requested, seconds) => {
    const pod = created(pods, vary(SMALL, 'spec.nodeName', 'a'));
    expect(pods.strategy.gracePeriodSeconds?.(pod, requested)).toBe(seconds);
  });
});
