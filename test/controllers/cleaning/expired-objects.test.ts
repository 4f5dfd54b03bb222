import { expect, test } from 'vitest';
import type { ApiObject } from '../../../src/api/object-meta.ts';
import type { Job } from '../../../src/api/types/batch/v1.ts';
import type { CertificateSigningRequest } from '../../../src/api/types/certificates/v1.ts';
import type { Lease } from '../../../src/api/types/coordination/v1.ts';
import type { Secret } from '../../../src/api/types/core/v1.ts';
import {
  deadServerLeases,
  expiredBootstrapTokens,
  finishedJobs,
  oldSigningRequests,
} from '../../../src/controllers/cleaning/expired-objects.ts';
import { jobs } from '../../../src/resources/batch/job/definition.ts';
import { toRevision } from '../../../src/storage/revision.ts';
import type { Entry } from '../../../src/storage/store.ts';
import { createTestClient } from '../../kit/client.ts';
import { Authority } from '../../kit/pki.ts';

const AT = '2026-02-02T00:00:00Z';
const later = (seconds: number): number => Date.parse(AT) + seconds * 1000;
const HOUR = 3600;
const metadata = { name: 'a', namespace: 'default', creationTimestamp: AT };
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const job = (ttlSecondsAfterFinished: number | undefined, ...conditions: object[]): Job =>
  ({
    kind: 'Job',
    apiVersion: 'batch/v1',
    metadata,
    spec: ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished },
    status: { conditions },
  }) as Job;
const condition = (type: string, status = 'True') => ({ type, status, lastTransitionTime: AT });

test('a job is due its time after it finished, however it finished', () => {
  const { dueAt } = finishedJobs;
  expect(dueAt(job(60, condition('Complete')))).toBe(later(60));
  expect(dueAt(job(0, condition('SuccessCriteriaMet'), condition('Failed')))).toBe(later(0));
  expect(dueAt(job(60))).toBeUndefined();
  expect(dueAt(job(60, condition('Suspended'), condition('Complete', 'False')))).toBeUndefined();
  expect(dueAt(job(undefined, condition('Complete')))).toBeUndefined();
  expect(dueAt(job(60, { type: 'Complete', status: 'True' }))).toBeUndefined();
});

test('an object that is being deleted already is left alone', () => {
  const finished = job(60, condition('Complete'));
  const ending = { ...finished, metadata: { ...metadata, deletionTimestamp: AT } };
  expect(finishedJobs.dueAt(ending)).toBeUndefined();
});

test('jobs without a time are not parsed', () => {
  const entryOf = (object: ApiObject): Entry => ({ json: Buffer.from(JSON.stringify(object)) }) as Entry;
  expect(finishedJobs.mayBeDue(entryOf(job(60)))).toBe(true);
  expect(finishedJobs.mayBeDue(entryOf(job(undefined)))).toBe(false);
});

test('a job is deleted with its pods before it, unless it changed after it was looked at', async () => {
  const { client, store } = createTestClient({ definitions: [jobs] });
  store.put('batch', 'jobs', job(60, condition('Complete')));
  const entries = await client.entries(finishedJobs.resource, {});
  const [{ namespace = '', name = '', uid = '', revision = toRevision(0) } = {}] = entries;
  const act = (seen: Partial<Entry>) =>
    finishedJobs.act({ namespace, name, uid, revision, ...seen } as Entry, client);
  store.put('batch', 'jobs', job(3600, condition('Complete')));
  await act({});
  await act({ revision: toRevision(2), uid: 'another' });
  expect(store.commits).toEqual([]);
  await act({ revision: toRevision(2) });
  expect(
    store.commits.map(({ verb, json }) => [verb, JSON.parse(json.toString()).metadata.finalizers]),
  ).toEqual([['update', ['foregroundDeletion']]]);
});

const token = (expiration: string | undefined, type = 'bootstrap.kubernetes.io/token'): Secret => ({
  kind: 'Secret',
  apiVersion: 'v1',
  metadata: { ...metadata, namespace: 'kube-system' },
  type,
  data: expiration === undefined ? {} : { expiration: base64(expiration) },
});

test('a bootstrap token is due when it expires, and at once when its time of expiry cannot be read', () => {
  const { dueAt } = expiredBootstrapTokens;
  expect(dueAt(token(AT))).toBe(later(0));
  expect(dueAt(token('2026-02-02T01:00:00+01:00', 'bootstrap.cluster.io/token'))).toBe(later(0));
  expect(dueAt(token('tomorrow'))).toBeLessThan(0);
  expect(dueAt(token(undefined))).toBeUndefined();
  expect(dueAt(token(AT, 'Opaque'))).toBeUndefined();
});

test('only secrets of the system are looked at', () => {
  const { mayBeDue } = expiredBootstrapTokens;
  expect(mayBeDue({ namespace: 'kube-system' } as Entry)).toBe(true);
  expect(mayBeDue({ namespace: 'default' } as Entry)).toBe(false);
});

const request = (certificate: string | undefined, ...conditions: object[]): CertificateSigningRequest =>
  ({
    kind: 'CertificateSigningRequest',
    apiVersion: 'certificates.k8s.io/v1',
    metadata,
    spec: {},
    status: { conditions, ...(certificate === undefined ? {} : { certificate: base64(certificate) }) },
  }) as CertificateSigningRequest;
const decided = (type: string) => ({ type, status: 'True', lastUpdateTime: AT });

test('a signing request is due an hour after the decision, or a day after it was made', async () => {
  const { dueAt } = oldSigningRequests;
  const { pem: certificate } = await Authority.create('CN=signer');
  expect(dueAt(request(undefined))).toBe(later(24 * HOUR));
  expect(dueAt(request(undefined, decided('Denied')))).toBe(later(HOUR));
  expect(dueAt(request(undefined, decided('Approved'), decided('Failed')))).toBe(later(HOUR));
  expect(dueAt(request(certificate, decided('Approved')))).toBe(later(HOUR));
  expect(dueAt(request('no certificate', decided('Approved')))).toBe(later(HOUR));
  // Approved, and the certificate is still to come.
  expect(dueAt(request(undefined, decided('Approved')))).toBeUndefined();
});

test('a signing request whose certificate has expired is due at once', async () => {
  const notAfter = new Date('2026-01-01T00:00:00Z');
  const notBefore = new Date('2025-01-01T00:00:00Z');
  const { pem: certificate } = await Authority.create('CN=signer', { notBefore, notAfter });
  const { lastUpdateTime: _, ...approved } = decided('Approved');
  expect(oldSigningRequests.dueAt(request(certificate, approved))).toBe(notAfter.getTime());
});

test('the lease of an API server is due when it expires, and one without a time at once', () => {
  const lease = (spec: object): Lease =>
    ({ kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata, spec }) as Lease;
  const { dueAt, mayBeDue } = deadServerLeases;
  expect(dueAt(lease({ renewTime: AT, leaseDurationSeconds: HOUR }))).toBe(later(HOUR));
  expect(dueAt(lease({ renewTime: AT }))).toBe(0);
  expect(dueAt(lease({ leaseDurationSeconds: HOUR }))).toBe(0);
  const labels = { 'apiserver.kubernetes.io/identity': 'kube-apiserver' };
  expect(mayBeDue({ namespace: 'kube-system', labels } as unknown as Entry)).toBe(true);
  expect(mayBeDue({ namespace: 'kube-system', labels: {} } as unknown as Entry)).toBe(false);
  expect(mayBeDue({ namespace: 'default', labels } as unknown as Entry)).toBe(false);
});
