import 'reflect-metadata';
import {
  constants,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { describe, expect, test } from 'vitest';
import { createNodeRestriction } from '../../src/admission/plugins/node-restriction/node-restriction.ts';
import { guardPodCertificates } from '../../src/admission/pod-certificate-signing.ts';
import { MINORS } from '../../src/api/emulation.ts';
import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import type { PodCertificateRequest } from '../../src/api/types/certificates/v1alpha1.ts';
import { nodeNameOf } from '../../src/authz/node-authorizer.ts';
import { builtInResources } from '../../src/resources/all.ts';
import { podcertificaterequests } from '../../src/resources/certificates/pod-certificate-request.ts';
import { pods } from '../../src/resources/pod/definition.ts';
import { pemBlocks } from '../../src/x509/pem.ts';
import { attributesOf, FakeCluster, refusalOf, toObject } from '../kit/admission.ts';
import { makeRequestWithKey } from '../kit/certificate-request.ts';
import { manifestsIn } from '../kit/manifests.ts';
import { Authority } from '../kit/pki.ts';
import { shortened, type Variation } from '../kit/variation-tables.ts';
import { varyAll } from '../kit/variations.ts';

/** Certificates of pods: their requests, the answers of signers, and the volumes that they are for. */

const of36 = manifestsIn(36, { PodCertificateRequest: true, ClusterTrustBundleProjection: true });
const UID = 'pod-uid';

function proofOf(key: KeyObject, message: string): Buffer {
  const data = Buffer.from(message);
  if (key.asymmetricKeyType === 'ed25519') return sign(null, data, key);
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  return sign('sha256', data, key.asymmetricKeyType === 'rsa' ? { key, padding } : key);
}

const keyFields = (privateKey: KeyObject, message = UID): JsonObject => ({
  pkixPublicKey: createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).toString('base64'),
  proofOfPossession: proofOf(privateKey, message).toString('base64'),
});

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

const requestOf = (privateKey: KeyObject = ec): JsonObject => ({
  spec: {
    signerName: 'example.com/signer',
    podName: 'web',
    podUID: UID,
    serviceAccountName: 'runner',
    serviceAccountUID: 'account-uid',
    nodeName: 'mine',
    nodeUID: 'node-uid',
    ...keyFields(privateKey),
  },
});

test('requests are there in 1.34 in one version, and since 1.35 in another', () => {
  const versions = MINORS.map((minor) =>
    builtInResources(minor)
      .filter(({ resource }) => resource === 'podcertificaterequests')
      .flatMap((one) => one.versions.map(({ version }) => version)),
  );
  expect(versions).toEqual([[], [], [], ['v1alpha1'], ['v1beta1'], ['v1beta1']]);
});

describe('a request', () => {
  const problems = (changes: Record<string, JsonValue | undefined>): string[] =>
    shortened(of36.problemsOnCreate(podcertificaterequests, varyAll(requestOf(), changes)));

  test('is for a day unless it says otherwise', () => {
    const { spec } = of36.created(podcertificaterequests, requestOf()) as PodCertificateRequest;
    expect(spec?.maxExpirationSeconds).toBe(86_400);
  });

  test.each([
    ['Ed25519', generateKeyPairSync('ed25519').privateKey],
    ['ECDSA', generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey],
    ['RSA', generateKeyPairSync('rsa', { modulusLength: 3072 }).privateKey],
  ])('may have a key of %s, which it proves to have', (_, key) => {
    expect(of36.problemsOnCreate(podcertificaterequests, requestOf(key))).toEqual([]);
    const other = varyAll(requestOf(key), { 'spec.podUID': 'another' });
    expect(of36.problemsOnCreate(podcertificaterequests, other)).toEqual([
      'spec.proofOfPossession: Invalid value: could not verify proof-of-possession signature',
    ]);
  });

  test.each<[string, KeyObject, string]>([
    [
      'a short key of RSA',
      generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
      'spec.pkixPublicKey: Invalid value: "2048-bit modulus": RSA keys must have modulus size 3072 or 4096',
    ],
    [
      'a key on another curve',
      generateKeyPairSync('ec', { namedCurve: 'secp224r1' }).privateKey,
      'spec.pkixPublicKey: Invalid value: "curve secp224r1": elliptic public keys must use curve P256 or P384',
    ],
  ])('may not have %s', (_, key, problem) => {
    expect(of36.problemsOnCreate(podcertificaterequests, requestOf(key))).toEqual([problem]);
  });

  test.each<Variation>([
    [
      { 'spec.signerName': 'signer' },
      [
        `spec.signerName: Invalid value: "signer": must be a fully qualified domain and path of the form 'example.com/signer-name'`,
      ],
    ],
    [
      { 'spec.podName': 'A' },
      [expect.stringContaining('spec.podName: Invalid value: "A": a lowercase RFC 1123 subdomain') as never],
    ],
    [{ 'spec.nodeUID': '' }, ['spec.nodeUID: Invalid value: "": must not be empty']],
    [
      { 'spec.serviceAccountUID': 'x'.repeat(129) },
      ['spec.serviceAccountUID: Too long: must have at most 128 bytes'],
    ],
    [
      { 'spec.maxExpirationSeconds': 3599 },
      ['spec.maxExpirationSeconds: Invalid value: 3599: must be in the range [3600, 7862400]'],
    ],
    [{ 'spec.maxExpirationSeconds': 7862400 }, []],
    [
      { 'spec.signerName': 'kubernetes.io/x', 'spec.maxExpirationSeconds': 86401 },
      ['spec.maxExpirationSeconds: Invalid value: 86401: must be in the range [3600, 86400]'],
    ],
    [
      { 'spec.unverifiedUserAnnotations': { 'example.com/a': 'b', plain: '' } },
      [
        'spec.unverifiedUserAnnotations: Invalid value: "plain": must be a domain-prefixed key (such as "acme.io/foo")',
      ],
    ],
    [
      { 'spec.pkixPublicKey': 'AAAA' },
      ['spec.pkixPublicKey: Invalid value: "AAAA": must be a valid PKIX-serialized public key'],
    ],
  ])('%o is judged', (changes, lines) => {
    expect(problems(changes)).toEqual(lines);
  });

  test('may have a certificate request in place of key and proof since 1.36', async () => {
    const { request } = await makeRequestWithKey('');
    const [block] = [...pemBlocks(Buffer.from(request, 'base64').toString())];
    const der = block?.der ?? Buffer.alloc(0);
    const stub = { pkixPublicKey: undefined, proofOfPossession: undefined };
    const judged = (bytes: Buffer, minor: 35 | 36 = 36, more: JsonObject = {}): string[] => {
      const { spec } = requestOf();
      const manifest = {
        spec: { ...(spec as JsonObject), ...stub, stubPKCS10Request: bytes.toString('base64'), ...more },
      };
      return manifestsIn(minor).problemsOnCreate(podcertificaterequests, manifest);
    };
    expect(judged(der)).toEqual([]);
    expect(judged(der, 35)).toEqual([expect.stringContaining('spec.pkixPublicKey: Invalid value: ""')]);
    expect(judged(Buffer.from('no'))).toEqual([
      'spec.stubPKCS10Request: Invalid value: "bm8=": must be a valid PKCS#10 certificate signing request',
    ]);
    const forged = Buffer.from(der);
    forged[forged.length - 1] = (forged.at(-1) ?? 0) ^ 1;
    expect(judged(forged)).toEqual([
      'spec.stubPKCS10Request: Invalid value: could not verify the signature of the certificate signing request',
    ]);
    const ONE =
      'spec: Invalid value: exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set';
    expect(judged(der, 36, keyFields(ec))).toEqual([ONE]);
    expect(judged(Buffer.alloc(0))).toEqual([ONE]);
    const { proofOfPossession } = keyFields(ec);
    expect(judged(Buffer.alloc(0), 36, { proofOfPossession: proofOfPossession ?? '' })).toEqual([ONE]);
  });

  test('stays as it was made', () => {
    const after = varyAll(requestOf(), { 'spec.nodeName': 'other' });
    expect(of36.problemsOnUpdate(podcertificaterequests, requestOf(), after)).toEqual([
      expect.stringContaining('field is immutable'),
    ]);
  });
});

describe('an answer', async () => {
  const HOUR_MS = 3_600_000;
  const now = Math.floor(Date.now() / 1000) * 1000;
  const toTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
  const authority = await Authority.create('ca');
  const issue = (hours: number, from = now) =>
    authority.issue({
      subject: 'CN=pod',
      notBefore: new Date(from),
      notAfter: new Date(from + hours * HOUR_MS),
    });
  const pair = await issue(24);
  const request = requestOf(createPrivateKey(pair.key));
  const ended = (type: string): JsonObject => ({
    conditions: [{ type, status: 'True', reason: 'Why', message: '', lastTransitionTime: toTime(now) }],
  });
  const issued = (certificateChain: string, hours = 24, from = now): JsonObject => ({
    ...ended('Issued'),
    certificateChain,
    notBefore: toTime(from),
    beginRefreshAt: toTime(from + (hours / 2) * HOUR_MS),
    notAfter: toTime(from + hours * HOUR_MS),
  });
  const good = issued(pair.cert + authority.pem);
  const answer = (after: JsonObject, before: JsonObject = {}, of = request): string[] =>
    shortened(of36.problemsOnView(podcertificaterequests, of, { before, after, view: 'status' })).map(
      (line) => line.replace(/"-----BEGIN.*-----\\n": /s, '… '),
    );

  test('is a certificate for the key, or a refusal', () => {
    for (const status of [good, ended('Denied'), ended('Failed')]) expect(answer(status)).toEqual([]);
  });

  test('names hosts and addresses that can be, since 1.35', async () => {
    const names = new x509.SubjectAlternativeNameExtension([
      { type: 'dns', value: 'a..example.com' },
      { type: 'dns', value: '.example.com' },
      { type: 'email', value: 'nobody' },
      { type: 'email', value: 'a@example.com' },
    ]);
    const { cert } = await authority.issue({ subject: 'CN=pod', extensions: [names] });
    const answersOf = (minor: 34 | 36): string[] =>
      manifestsIn(minor).problemsOnView(podcertificaterequests, request, {
        ...{ before: {}, after: issued(cert), view: 'status' },
      });
    const at = 'status.certificateChain: Invalid value';
    expect(answersOf(36)).toEqual([
      `${at}: ".example.com": leaf certificate's DNSName should not start or end with '.'`,
      `${at}: "a..example.com": leaf certificate's DNSName should not contain '..'`,
      `${at}: "nobody": leaf certificate should not contain invalid EmailAddress`,
    ]);
    expect(answersOf(34)).toEqual([expect.stringContaining('was not issued to the requested public key')]);
  });

  test.each<[string, JsonObject, string[]]>([
    [
      'of another type',
      ended('Approved'),
      [
        'status.conditions[0].type: Unsupported value: "Approved": supported values: "Issued", "Denied", "Failed"',
      ],
    ],
    [
      'that is not true',
      { conditions: [{ ...(ended('Denied').conditions as JsonObject[])[0], status: 'False' }] },
      ['status.conditions[0].status: Unsupported value: "False": supported values: "True"'],
    ],
    [
      'without a reason',
      { conditions: [{ ...(ended('Denied').conditions as JsonObject[])[0], reason: '' }] },
      ['status.conditions[0].reason: Required value: must be set'],
    ],
    [
      'both ways',
      {
        conditions: [
          ...(ended('Denied').conditions as JsonObject[]),
          ...(ended('Failed').conditions as JsonObject[]),
        ],
      },
      [
        'status.conditions[1].type: Invalid value: "Failed": There may be at most one condition with type "Issued", "Denied", or "Failed"',
      ],
    ],
    [
      'without a condition',
      { certificateChain: pair.cert },
      ['status: Invalid value: status is immutable unless transitioning to "Issued", "Denied", or "Failed"'],
    ],
    [
      'that refuses and issues',
      { ...good, ...ended('Denied') },
      [
        'status: Invalid value: non-condition status fields must be empty when denying or failing the PodCertificateRequest',
      ],
    ],
    [
      'without certificates',
      issued('none'),
      [
        'status.certificateChain: Invalid value: "none": issued certificate chain must contain at least one certificate',
      ],
    ],
    [
      'with another block',
      issued(pair.key),
      [
        'status.certificateChain: Invalid value: … issued certificate chain must consist entirely of CERTIFICATE PEM blocks',
      ],
    ],
    [
      'with another block behind',
      issued(pair.cert + pair.key),
      [
        'status.certificateChain: Invalid value: … issued certificate chain must consist entirely of CERTFICATE PEM blocks',
      ],
    ],
    [
      'for another key',
      issued((await issue(24)).cert),
      [
        'status.certificateChain: Invalid value: … leaf certificate was not issued to the requested public key',
      ],
    ],
    [
      'without times',
      { ...ended('Issued'), certificateChain: pair.cert },
      [
        'status.beginRefreshAt: Required value: must be present and in the range [notbefore+10min, notafter-10min]',
        'status.notAfter: Required value: must be present and consistent with the issued certificate',
        'status.notBefore: Required value: must be present and consistent with the issued certificate',
      ],
    ],
    [
      'with another beginning',
      { ...good, notBefore: toTime(now + 1000) },
      [expect.stringContaining('must be set to the NotBefore time encoded in the leaf certificate') as never],
    ],
    [
      'with another end',
      { ...good, notAfter: toTime(now) },
      [expect.stringContaining('must be set to the NotAfter time encoded in the leaf certificate') as never],
    ],
    [
      'that is renewed too soon',
      { ...good, beginRefreshAt: toTime(now) },
      [expect.stringContaining('must be at least 10 minutes after status.notBefore') as never],
    ],
    [
      'that is renewed too late',
      { ...good, beginRefreshAt: good.notAfter ?? '' },
      [expect.stringContaining('must be at least 10 minutes before status.notAfter') as never],
    ],
  ])('%s is refused', (_, status, lines) => {
    expect(answer(status)).toEqual(lines);
  });

  test('has a certificate from now on, for an hour at least, and for no longer than was asked', async () => {
    const refused = async (hours: number, from: number): Promise<string | undefined> => {
      const { cert, key } = await issue(hours, from);
      return answer(issued(cert, hours, from), {}, requestOf(createPrivateKey(key)))[0];
    };
    expect(await refused(24, now - HOUR_MS)).toContain(
      "must be set to within 5 minutes of kube-apiserver's current time",
    );
    expect(await refused(0.5, now)).toContain('leaf certificate lifetime must be >= 1 hour');
    expect(await refused(25, now)).toContain(
      'leaf certificate lifetime must be <= spec.maxExpirationSeconds (86400)',
    );
  });

  test('is given once', () => {
    expect(answer(good, ended('Denied'))).toEqual([
      'status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed',
    ]);
  });

  test('comes from a user who may sign for the signer, by its name or its domain', async () => {
    const asked: unknown[] = [];
    const accessTo = (allowed: string) => ({
      whyNot: async (_user: unknown, right: { name?: string; verb: string; resource: string }) => {
        asked.push([right.verb, right.resource, right.name]);
        return right.name === allowed ? undefined : 'no';
      },
    });
    const write = attributesOf('pods', {
      definition: podcertificaterequests,
      operation: 'UPDATE',
      subresource: 'status',
      old: toObject(request),
      object: toObject({ ...request, status: good }),
    });
    for (const allowed of ['example.com/signer', 'example.com/*'])
      expect(await refusalOf(guardPodCertificates(accessTo(allowed)), write)).toBeUndefined();
    expect(asked).toContainEqual(['sign', 'signers', 'example.com/signer']);
    expect(await refusalOf(guardPodCertificates(accessTo('other')), write)).toContain(
      'spec.signerName: Forbidden: User "jane" is not permitted to "sign" for signer "example.com/signer"',
    );
    const same = { ...write, object: toObject(request) };
    expect(await refusalOf(guardPodCertificates(accessTo('other')), same)).toBeUndefined();
  });
});

describe('a node', () => {
  const inDefault = (
    name: string,
    uid: string,
    spec: JsonObject = {},
    annotations: Record<string, string> = {},
  ): JsonObject => ({
    metadata: { name, namespace: 'default', uid, annotations },
    spec,
  });
  const onNode = (nodeName: string): JsonObject => ({ nodeName, serviceAccountName: 'runner' });
  const objects = new FakeCluster({
    nodes: [{ metadata: { name: 'mine', uid: 'node-uid' } }],
    serviceaccounts: [inDefault('runner', 'account-uid')],
    pods: [
      inDefault('web', UID, onNode('mine')),
      inDefault('foreign', UID, onNode('other')),
      inDefault('mirror', UID, onNode('mine'), { 'kubernetes.io/config.mirror': 'x' }),
    ],
  });
  const plugin = createNodeRestriction({
    ...{ objects, nodeOf: nodeNameOf, isFeatureOn: () => false },
    access: { whyNot: async () => '' },
  });
  const answer = async (
    changes: Record<string, JsonValue | undefined>,
    operation: 'CREATE' | 'DELETE' = 'CREATE',
  ) => {
    const object = toObject({
      ...varyAll(requestOf(), changes),
      metadata: { name: 'it', namespace: 'default' },
    });
    const user = { username: 'system:node:mine', uid: '', groups: ['system:nodes'], extra: {} };
    const write = attributesOf('pods', { definition: podcertificaterequests, operation, user, object });
    return refusalOf(plugin, write);
  };
  const refused = async (...write: Parameters<typeof answer>) => {
    const message = await answer(...write);
    if (message !== undefined) expect(message).toContain(' is forbidden: ');
    return message?.replace(/^.*? is forbidden: /, '');
  };

  test('may ask for the certificates of its pods', async () => {
    expect(await refused({})).toBeUndefined();
  });

  test.each<[string, Record<string, JsonValue | undefined>, string]>([
    [
      'another node',
      { 'spec.nodeName': 'other' },
      'PodCertificateRequest.Spec.NodeName="other", which is not the requesting node "mine"',
    ],
    [
      'a pod of another node',
      { 'spec.podName': 'foreign' },
      'pod "default/foreign" is not running on node "mine" named in the PodCertificateRequest',
    ],
    ['a static pod', { 'spec.podName': 'mirror' }, 'pod "default/mirror" is a mirror pod'],
    [
      'another account',
      { 'spec.serviceAccountName': 'admin' },
      'PodCertificateRequest for pod "default/web" contains serviceAccountName ("admin") that differs from running pod ("runner")',
    ],
  ])('may not ask for %s', async (_, changes, why) => {
    expect(await refused(changes)).toBe(why);
  });

  test.each<[string, Record<string, JsonValue | undefined>, string]>([
    [
      'a pod that is not there',
      { 'spec.podName': 'gone' },
      'while retrieving pod "default/gone" named in the PodCertificateRequest: pod "gone" not found',
    ],
    [
      'an earlier pod of the name',
      { 'spec.podUID': 'old' },
      `PodCertificateRequest for pod "default/web" contains pod UID ("old") which differs from running pod "${UID}"`,
    ],
    [
      'an earlier account',
      { 'spec.serviceAccountUID': 'old' },
      'PodCertificateRequest for pod "default/web" names service account UID "old", which differs from the running service account ("account-uid")',
    ],
    [
      'an earlier node of its name',
      { 'spec.nodeUID': 'old' },
      'PodCertificateRequest for pod "default/web" names node UID "old", inconsistent with the running node ("node-uid")',
    ],
  ])('may ask again for %s, which may be news', async (_, changes, why) => {
    expect(await answer(changes)).toBe(why);
  });

  test('may not delete requests', async () => {
    expect(await refused({}, 'DELETE')).toBe('unexpected operation DELETE');
  });
});

describe('a volume', () => {
  const podWith = (podCertificate: JsonObject, more: JsonObject[] = []): JsonObject => ({
    spec: {
      serviceAccountName: 'a',
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'v', projected: { sources: [{ podCertificate }, ...more] } }],
    },
  });
  const source = { signerName: 'example.com/s', keyType: 'ED25519', credentialBundlePath: 'bundle.pem' };
  const AT = 'spec.volumes[0].projected.sources[0].podCertificate';

  test.each<[string, JsonObject, string[]]>([
    ['all in one file', {}, []],
    ['a file for each', { credentialBundlePath: '', keyPath: 'key', certificateChainPath: 'chain' }, []],
    ['a week', { maxExpirationSeconds: 604_800, userAnnotations: { 'example.com/a': 'b' } }, []],
    [
      'another kind of key',
      { keyType: 'RSA2048' },
      [
        `${AT}.keyType: Unsupported value: "RSA2048": supported values: "RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"`,
      ],
    ],
    [
      'no file',
      { credentialBundlePath: '' },
      [
        `${AT}: Required value: specify at least one of credentialBundlePath, keyPath, and certificateChainPath`,
      ],
    ],
    [
      'the same file twice',
      { keyPath: 'bundle.pem' },
      ['spec.volumes[0].projected: Invalid value: "bundle.pem": conflicting duplicate paths'],
    ],
    [
      'a file outside',
      { credentialBundlePath: '../a' },
      [`${AT}.credentialBundlePath: Invalid value: "../a": must not contain '..'`],
    ],
    [
      'a week from the cluster',
      { signerName: 'kubernetes.io/s', maxExpirationSeconds: 604_800 },
      [
        `${AT}.maxExpirationSeconds: Invalid value: 604800: if provided, maxExpirationSeconds must be <= 86400`,
      ],
    ],
    [
      'a second',
      { maxExpirationSeconds: 1 },
      [`${AT}.maxExpirationSeconds: Invalid value: 1: if provided, maxExpirationSeconds must be >= 3600`],
    ],
    [
      'no kind of key and a bad annotation',
      { keyType: '', userAnnotations: { 'A b': 'c' } },
      [
        `${AT}.keyType: Unsupported value: "": supported values: "RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"`,
        `${AT}.userAnnotations: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
      ],
    ],
    [
      'a plain annotation',
      { userAnnotations: { a: 'b' } },
      [`${AT}.userAnnotations: Invalid value: "a": must be a domain-prefixed key (such as "acme.io/foo")`],
    ],
  ])('with %s is judged', (_, changes, lines) => {
    expect(shortened(of36.problemsOnCreate(pods, podWith({ ...source, ...changes })))).toEqual(lines);
  });

  const BUNDLE = 'spec.volumes[0].projected.sources[0].clusterTrustBundle';
  test.each<[string, JsonObject, string[]]>([
    ['by its name', { name: 'root' }, []],
    ['by the name of one of a signer', { name: 'example.com:s:v1' }, []],
    ['of a signer', { signerName: 'example.com/s', labelSelector: {} }, []],
    [
      'with a name of none',
      { name: 'A' },
      [`${BUNDLE}.name: Invalid value: "A": not a valid clustertrustbundlename`],
    ],
    [
      'with a name of none of its signer',
      { name: 'example.com:s:V1' },
      [`${BUNDLE}.name: Invalid value: "example.com:s:V1": not a valid clustertrustbundlename`],
    ],
    [
      'of no signer',
      { signerName: '' },
      [
        `${BUNDLE}.signerName: Required value`,
        `${BUNDLE}.signerName: Required value: must be a valid signer name`,
      ],
    ],
    [
      'of a bad signer',
      { signerName: 'a' },
      [`${BUNDLE}.signerName: Invalid value: "a": must be a fully qualified domain`],
    ],
    ['without a file', { name: 'root', path: '' }, [`${BUNDLE}.path: Required value`]],
    [
      'by both',
      { name: 'a', signerName: 'example.com/s' },
      [
        `${BUNDLE}: Invalid value: {"Name":"a","SignerName":"example.com/s","LabelSelector":null,"Optional":null,"Path":"ca.pem"}: only one of name and signerName may be used`,
      ],
    ],
  ])('with a trust bundle %s is judged', (_, changes, lines) => {
    const sources = [{ clusterTrustBundle: { path: 'ca.pem', ...changes } }];
    const pod = {
      spec: {
        serviceAccountName: 'a',
        containers: [{ name: 'c', image: 'i' }],
        volumes: [{ name: 'v', projected: { sources } }],
      },
    };
    const problems = of36.problemsOnCreate(pods, pod);
    expect(problems).toHaveLength(lines.length);
    for (const [at, line] of lines.entries()) expect(problems[at]?.startsWith(line)).toBe(true);
  });

  test('names the volume where two sources make one file', () => {
    const twice = podWith(source, [{ clusterTrustBundle: { name: 'root', path: 'bundle.pem' } }]);
    expect(of36.problemsOnCreate(pods, twice)).toEqual([
      'spec.volumes[0].projected: Invalid value: "bundle.pem": conflicting duplicate paths',
    ]);
  });

  test('has certificates while the feature is on, and keeps those that it has', () => {
    const off = manifestsIn(36);
    const sourcesOf = (pod: JsonObject): unknown =>
      (pod as { spec: { volumes: { projected: { sources: JsonObject[] } }[] } }).spec.volumes[0]?.projected
        .sources;
    expect(sourcesOf(off.created(pods, podWith(source)))).toEqual([{}]);
    expect(sourcesOf(of36.created(pods, podWith(source)))).toEqual([{ podCertificate: source }]);
  });
});
