import { expect, test } from 'vitest';
import type { ApiObject } from '../../../src/api/object-meta.ts';
import { StatusError } from '../../../src/api/status.ts';
import { writeStatus } from '../../../src/registry/status-view.ts';
import { deployments } from '../../../src/resources/apps/deployment.ts';
import { namespaces } from '../../../src/resources/core/namespace.ts';
import { resourceOfMissing } from '../../../src/verbs/writing/change.ts';
import {
  checkDeleteOptions,
  checkPreconditions,
  type DeleteOptions,
  planDeletion,
} from '../../../src/verbs/writing/deletion.ts';

const OPTIONS: DeleteOptions = {
  gracePeriodSeconds: undefined,
  propagationPolicy: undefined,
  orphanDependents: undefined,
  preconditions: {},
  dryRun: false,
};

function statusOf(attempt: () => unknown): StatusError['status'] {
  try {
    attempt();
  } catch (error) {
    if (error instanceof StatusError) return error.status;
    throw error;
  }
  throw new Error('no error');
}

test('a value of dryRun that means nothing is refused', () => {
  const { details } = statusOf(() => checkDeleteOptions({ ...OPTIONS, unknownDryRuns: ['x'] }));
  const message = 'Unsupported value: []string{"x"}: supported values: "All"';
  expect(details?.causes).toEqual([{ reason: 'FieldValueNotSupported', field: 'dryRun', message }]);
  checkDeleteOptions({ ...OPTIONS, unknownDryRuns: [] });
});

test('a failed precondition of a deletion names the kind', () => {
  const object = { kind: 'Deployment', apiVersion: 'apps/v1', metadata: { name: 'web', uid: 'u' } };
  const options = { ...OPTIONS, preconditions: { uid: 'other' } };
  const { message, details } = statusOf(() => checkPreconditions(deployments, object, '7', options));
  expect(message).toMatch(
    /^Operation cannot be fulfilled on Deployment\.apps "web": the UID in the precondition/,
  );
  expect(details).toEqual({ name: 'web', group: 'apps', kind: 'Deployment' });
});

test('a namespace in deletion has a time but no grace period, and another deletion leaves it as it is', () => {
  const head = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'n', uid: 'u' } };
  const at = { now: new Date('2026-01-01T00:00:00Z'), collects: true };
  const namespace: ApiObject = { ...head, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
  expect(planDeletion(namespaces, namespace, OPTIONS, at)).toEqual({
    kind: 'mark',
    object: {
      ...head,
      metadata: { ...head.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Terminating' },
    },
  });
  const again = { ...OPTIONS, propagationPolicy: 'Orphan' };
  expect(planDeletion(namespaces, namespace, again, at)).toEqual({ kind: 'pending' });
});

test('a missing workload is named after its scale', () => {
  expect(resourceOfMissing(deployments, 'scale')).toEqual({ group: 'apps', resource: 'deployments/scale' });
  expect(resourceOfMissing(deployments, 'status')).toBe(deployments);
});

test('a write of a status that states no resourceVersion has none, also where it keeps the metadata', () => {
  const head = { kind: 'Widget', apiVersion: 'example.com/v1' };
  const old: ApiObject = { ...head, metadata: { name: 'it', labels: { a: 'b' }, resourceVersion: '7' } };
  const written = (resourceVersion?: string) =>
    writeStatus(
      { ...head, metadata: { ...(resourceVersion === undefined ? {} : { resourceVersion }) } },
      old,
      [['metadata']],
    ).metadata;
  expect(written()).toEqual({ name: 'it', labels: { a: 'b' } });
  expect(written('6')).toEqual({ name: 'it', labels: { a: 'b' }, resourceVersion: '6' });
});
