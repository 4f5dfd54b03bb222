import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/api/object-meta.ts';
import { whySkip, whySkipResource } from '../../../src/history/restore/skips.ts';

const was = { has: (uid: string) => uid === 'owner', selects: (name: string) => name === 'web' };

const why = (resource: string, metadata: JsonObject, rest: JsonObject = {}): string | undefined => {
  const [name = '', ...group] = resource.split('.');
  const object = { kind: 'Any', apiVersion: 'v1', metadata: { name: 'a', ...metadata }, ...rest };
  return whySkip(object, { resource: name, group: group.join('.') }, was);
};

const controlledBy = (apiVersion: string, kind: string, uid = 'owner'): JsonObject => ({
  ownerReferences: [{ apiVersion, kind, name: 'o', uid, controller: true }],
});

test('what a controller of Kubernetes makes anew is left out, unless its owner was not there', () => {
  expect(why('replicasets.apps', controlledBy('apps/v1', 'Deployment'))).toBe('Deployment o makes it anew');
  expect(why('pods', controlledBy('batch/v1', 'Job'))).toBe('Job o makes it anew');
  expect(why('endpointslices.discovery.k8s.io', controlledBy('v1', 'Service'))).toBe(
    'Service o makes it anew',
  );
  expect(why('pods', controlledBy('apps/v1', 'ReplicaSet', 'gone'))).toBeUndefined();
  expect(why('pods', controlledBy('example.com/v1', 'Deployment'))).toBeUndefined();
  expect(
    why('configmaps', { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', uid: 'owner' }] }),
  ).toBeUndefined();
});

test('what the server makes, and what would mean something else than it did, is left out', () => {
  expect(why('configmaps', { name: 'kube-root-ca.crt' })).toBeDefined();
  expect(why('secrets', {}, { type: 'kubernetes.io/service-account-token' })).toBeDefined();
  expect(why('endpoints', { name: 'web' })).toBeDefined();
  expect(why('pods', { annotations: { 'kubernetes.io/config.mirror': 'x' } })).toBeDefined();
  expect(why('pods', {}, { status: { phase: 'Succeeded' } })).toContain('would run again');
  const complete = { status: { conditions: [{ type: 'Complete', status: 'True' }] } };
  expect(why('jobs.batch', {}, complete)).toContain('would run again');
  expect(whySkipResource({ group: '', resource: 'events' })).toBeDefined();
});

test('everything else comes back', () => {
  expect(why('configmaps', {})).toBeUndefined();
  expect(why('secrets', {}, { type: 'Opaque' })).toBeUndefined();
  expect(why('endpoints', { name: 'by-hand' })).toBeUndefined();
  expect(why('pods', {}, { status: { phase: 'Running' } })).toBeUndefined();
  expect(
    why('jobs.batch', {}, { status: { conditions: [{ type: 'Complete', status: 'False' }] } }),
  ).toBeUndefined();
  expect(whySkipResource({ group: '', resource: 'secrets' })).toBeUndefined();
});
