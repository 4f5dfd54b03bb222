import { beforeAll, expect, test } from 'vitest';
import type { ApiObject } from '../../src/api/object-meta.ts';
import { CA_MANAGER, rootCertificate } from '../../src/controllers/namespace-deletion.ts';
import { Authority } from '../kit/pki.ts';

let ours: string;
let theirs: string;

beforeAll(async () => {
  ours = (await Authority.create('ours')).pem;
  theirs = (await Authority.create('theirs')).pem;
});

/** The map as it is, with who wrote its certificate. */
const published = (certificate: string | undefined, ...managers: string[]): ApiObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: {
    name: 'kube-root-ca.crt',
    managedFields: managers.map((manager) => ({ manager, fieldsV1: { 'f:data': { 'f:ca.crt': {} } } })),
  },
  ...(certificate === undefined ? {} : { data: { 'ca.crt': certificate } }),
});

const mended = (current: ApiObject, fully: boolean): unknown =>
  rootCertificate(ours).mend(current, fully)?.data;

test('the right certificate stays, with any field manager', () => {
  expect(mended(published(ours, 'kube-controller-manager'), true)).toBeUndefined();
});

test('a value that is no certificate is replaced at once, with any field manager', () => {
  for (const broken of [undefined, '', 'nonsense'])
    expect(mended(published(broken, 'kube-controller-manager'), false)).toEqual({ 'ca.crt': ours });
});

test('a certificate that this server did not write stays', () => {
  expect(mended(published(theirs, 'kube-controller-manager'), true)).toBeUndefined();
  expect(mended(published(theirs, CA_MANAGER, 'kubectl-edit'), true)).toBeUndefined();
  expect(mended(published(theirs), true)).toBeUndefined();
});

test('another certificate of ours is replaced at start only, so that two servers never write in turns', () => {
  expect(mended(published(theirs, CA_MANAGER), false)).toBeUndefined();
  expect(mended(published(theirs, CA_MANAGER), true)).toEqual({ 'ca.crt': ours });
});
