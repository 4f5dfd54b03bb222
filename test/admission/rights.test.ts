import { expect, test } from 'vitest';
import type { Access, Right } from '../../src/admission/plugin.ts';
import { type FindKind, ownerReferencesPermission } from '../../src/admission/plugins/owner-references.ts';
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  trustBundleAttest,
} from '../../src/admission/plugins/signer-rights.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { attributesOf, pluginFrom, refusalOf, toObject } from '../kit/admission.ts';
import { makeRequest } from '../kit/certificate-request.ts';

const certificateSubject = pluginFrom(certificateSubjectRestriction, {});

/** Rights as `verb resource[/subresource] name`. */
const having = (...rights: string[]): Access => ({
  whyNot: async (_, right: Right) => (rights.includes(textOf(right)) ? undefined : 'no rule'),
});
const textOf = ({ verb, resource, subresource = '', name = '' }: Right): string =>
  `${verb} ${resource}${subresource === '' ? '' : `/${subresource}`} ${name}`;

const owned = (...ownerReferences: JsonObject[]) =>
  toObject({ metadata: { ownerReferences: ownerReferences as never } });
const owner = (uid: string, blockOwnerDeletion?: boolean): JsonObject => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  name: 'web',
  uid,
  ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
});
const findKind: FindKind = (_, kind) =>
  kind === 'ReplicaSet' ? [{ group: 'apps', version: 'v1', resource: 'replicasets', namespaced: true }] : [];

const DELETE = "cannot set an ownerRef on a resource you can't delete: no rule, <nil>";
const BLOCK =
  "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: no rule, <nil>";
const FINALIZERS = 'update replicasets/finalizers web';

test.each<[string, string[], JsonObject[] | undefined, JsonObject[], string | undefined]>([
  ['made with an owner', [], undefined, [owner('1')], undefined],
  ['made with an owner that it blocks', [], undefined, [owner('1', true)], BLOCK],
  ['the same, by who may set finalizers there', [FINALIZERS], undefined, [owner('1', true)], undefined],
  [
    'the same, by who may set finalizers anywhere',
    ['update */finalizers *'],
    undefined,
    [owner('1', true)],
    undefined,
  ],
  ['given an owner', [], [], [owner('1')], DELETE],
  ['given an owner, by who may delete it', ['delete pods it'], [], [owner('1')], undefined],
  ['left alone', [], [owner('1')], [owner('1')], undefined],
  ['made to block', ['delete pods it'], [owner('1', false)], [owner('1', true)], BLOCK],
  [
    'blocking as before, with one owner more',
    ['delete pods it'],
    [owner('1', true)],
    [owner('1', true), owner('2')],
    undefined,
  ],
  [
    'blocking an owner of an unknown kind',
    [],
    undefined,
    [{ ...owner('1', true), kind: 'Web' }],
    'cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion apps/v1 Kind Web: no matches for kind "Web" in version "apps/v1"',
  ],
])('a pod %s', async (_, rights, before, after, why) => {
  const plugin = pluginFrom(ownerReferencesPermission, { access: having(...rights), findKind });
  const attributes = attributesOf('pods', {
    object: owned(...after),
    ...(before === undefined ? {} : { operation: 'UPDATE', old: owned(...before) }),
  });
  expect(await refusalOf(plugin, attributes)).toBe(
    why === undefined ? undefined : `pods "it" is forbidden: ${why}`,
  );
});

const CSRS = 'certificates.k8s.io/certificatesigningrequests';
const SIGNER = 'example.com/own';
const request = (status: JsonObject = {}) => toObject({ spec: { signerName: SIGNER }, status });
const update = (subresource: string, object = request()) =>
  attributesOf(CSRS, { operation: 'UPDATE', subresource, object, old: request() });

test.each([
  [
    'nothing',
    [],
    'certificatesigningrequests.certificates.k8s.io "it" is forbidden: user not permitted to approve requests with signerName "example.com/own"',
  ],
  ['the signer', ['approve signers example.com/own'], undefined],
  ['the domain', ['approve signers example.com/*'], undefined],
])('approving is for who may approve for %s', async (_, rights, message) => {
  const plugin = pluginFrom(certificateApproval, { access: having(...rights) });
  expect(await refusalOf(plugin, update('approval'))).toBe(message);
  expect(await refusalOf(plugin, update('status'))).toBeUndefined();
});

test('issuing a certificate needs the right to sign; other changes of a status need no right', async () => {
  const plugin = pluginFrom(certificateSigning, { access: having() });
  const message =
    'certificatesigningrequests.certificates.k8s.io "it" is forbidden: user not permitted to sign requests with signerName "example.com/own"';
  expect(await refusalOf(plugin, update('status', request({ certificate: 'eA==' })))).toBe(message);
  expect(await refusalOf(plugin, update('status', request({ conditions: [{ type: 'Failed' }] })))).toBe(
    message,
  );
  expect(await refusalOf(plugin, update('status'))).toBeUndefined();
  const allowed = pluginFrom(certificateSigning, { access: having('sign signers example.com/*') });
  expect(await refusalOf(allowed, update('status', request({ certificate: 'eA==' })))).toBeUndefined();
});

test('a trust bundle needs the right to attest, except for changes of the garbage collector', async () => {
  const plugin = pluginFrom(trustBundleAttest, { access: having() });
  const bundle = (spec: JsonObject, metadata = {}) => toObject({ spec, metadata });
  const BUNDLES = 'certificates.k8s.io/clustertrustbundles';
  expect(await refusalOf(plugin, attributesOf(BUNDLES, { object: bundle({ signerName: SIGNER }) }))).toMatch(
    /user not permitted to attest for signerName "example.com\/own"/,
  );
  expect(await refusalOf(plugin, attributesOf(BUNDLES, { object: bundle({}) }))).toBeUndefined();
  const collected = attributesOf(BUNDLES, {
    operation: 'UPDATE',
    object: bundle({ signerName: SIGNER }, { finalizers: ['x'] }),
    old: bundle({ signerName: SIGNER }),
  });
  expect(await refusalOf(plugin, collected)).toBeUndefined();
});

test('a certificate request for system:masters is refused', async () => {
  const asking = async (organization: string, signerName: string) => {
    const request = await makeRequest(`jane, O=${organization}`);
    const object = toObject({ spec: { signerName, request } });
    return refusalOf(certificateSubject, attributesOf(CSRS, { object }));
  };
  const client = 'kubernetes.io/kube-apiserver-client';
  expect(await asking('system:masters', client)).toMatch(
    /use of kubernetes.io\/kube-apiserver-client signer with system:masters group is not allowed/,
  );
  expect(await asking('developers', client)).toBeUndefined();
  expect(await asking('system:masters', SIGNER)).toBeUndefined();
});
