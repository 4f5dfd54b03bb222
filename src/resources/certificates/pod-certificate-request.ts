import type { KeyObject } from 'node:crypto';
import type {
  PodCertificateRequest,
  PodCertificateRequestSpec,
} from '../../api/types/certificates/v1alpha1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { type CertificationRequest, readRequestDer } from '../../x509/certification-request.ts';
import { provesPossession, readPodKey } from '../../x509/possession.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { mustBeName } from '../rules/name-rules.ts';
import { mustBeSignerName } from './certificate-signing-request.ts';
import { validateIssuing } from './pod-certificate-status.ts';
import { mustBeUserAnnotations, validateLifetime } from './pod-certificates.ts';

/** A node agent asks for the certificate of one of its pods, whose private key it has made. */
export const podcertificaterequests = define<PodCertificateRequest>({
  group: 'certificates.k8s.io',
  resource: 'podcertificaterequests',
  kind: 'PodCertificateRequest',
  namespaced: true,
  versions: [
    {
      version: 'v1beta1',
      type: 'certificates/v1beta1.PodCertificateRequest',
      enabledByDefault: false,
      gate: 'PodCertificateRequest',
      since: 35,
    },
    {
      version: 'v1alpha1',
      type: 'certificates/v1alpha1.PodCertificateRequest',
      enabledByDefault: false,
      gate: 'PodCertificateRequest',
      since: 34,
      until: 35,
    },
  ],
  storedVersion: 'v1alpha1',
  emptyStatus: {},
  statusResets: [['spec'], ['metadata']],
  validateStatus: checkedUpdate(validateIssuing),
  fields: {
    paths: {
      'spec.signerName': ['spec.signerName'],
      'spec.podName': ['spec.podName'],
      'spec.nodeName': ['spec.nodeName'],
    },
    indexed: ['spec.nodeName'],
  },
  table: {
    columns: [
      nameColumn(),
      column('PodName'),
      column('ServiceAccountName'),
      column('NodeName'),
      column('SignerName'),
      column('State'),
    ],
    cells: ({ metadata, spec = {}, status = {} }) => {
      const { podName = '', serviceAccountName = '', nodeName = '', signerName = '' } = spec;
      const ended = status.conditions?.find((condition) => condition.status === 'True');
      return [
        metadata.name ?? '',
        podName,
        serviceAccountName,
        nodeName,
        signerName,
        ended?.type ?? 'Pending',
      ];
    },
  },
  strategy: {
    allowUnconditionalUpdate: false,
    judgesAlone: () => ['spec'],
    // The spec cannot change: only a new one is judged.
    validate: checked((at, { spec = {} }, old) => {
      if (old === undefined) validateSpec(at.field('spec'), spec);
    }),
  },
});

const NAMES = ['podName', 'serviceAccountName', 'nodeName'] as const;
const UIDS = ['podUID', 'serviceAccountUID', 'nodeUID'] as const;
const MAX_UID_BYTES = 128;

function validateSpec(at: FieldPath, spec: PodCertificateRequestSpec): void {
  const { signerName = '', unverifiedUserAnnotations, maxExpirationSeconds: seconds } = spec;
  mustBeSignerName(at.field('signerName'), signerName);
  mustBeUserAnnotations(at.field('unverifiedUserAnnotations'), unverifiedUserAnnotations);
  for (const field of NAMES) mustBeName(at.field(field), spec[field] ?? '', 'dns-subdomain');
  for (const field of UIDS) mustBeUid(at.field(field), spec[field] ?? '');
  const path = at.field('maxExpirationSeconds');
  if (seconds === undefined) {
    path.required('must be set');
    return;
  }
  validateLifetime(path, seconds, signerName);
  validateKey(at, spec);
}

function mustBeUid(at: FieldPath, uid: string): void {
  if (uid === '') at.invalid(uid, 'must not be empty');
  if (Buffer.byteLength(uid) > MAX_UID_BYTES) at.tooLong(MAX_UID_BYTES);
}

const MAX_KEY_BYTES = 10 * 1024;
const KEY_FIELDS = ['pkixPublicKey', 'proofOfPossession', 'stubPKCS10Request'] as const;

/** The node agent must have the private key: a certificate for the key of another pod would be of use to that pod. */
function validateKey(at: FieldPath, spec: PodCertificateRequestSpec): void {
  if (at.minor >= 36 && !hasOneKey(spec)) {
    at.invalidUnshown('exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set');
    return;
  }
  const tooLong = KEY_FIELDS.find((field) => Buffer.byteLength(spec[field] ?? '', 'base64') > MAX_KEY_BYTES);
  if (tooLong !== undefined) at.field(tooLong).tooLong(MAX_KEY_BYTES);
  else if ((spec.stubPKCS10Request ?? '') !== '') validateStub(at, spec);
  else {
    const path = at.field('pkixPublicKey');
    const key = keyAt(path, spec.pkixPublicKey ?? '', Buffer.from(spec.pkixPublicKey ?? '', 'base64'));
    const proof = Buffer.from(spec.proofOfPossession ?? '', 'base64');
    if (key !== undefined && !provesPossession(key, spec.podUID ?? '', proof))
      at.field('proofOfPossession').invalidUnshown('could not verify proof-of-possession signature');
  }
}

const hasOneKey = (spec: PodCertificateRequestSpec): boolean => {
  const [key, proof, stub] = KEY_FIELDS.map((field) => (spec[field] ?? '') !== '');
  return stub === true ? key === false && proof === false : key === true && proof === true;
};

/** Since 1.36 a certificate request, which its own key has signed, takes the place of the key and the proof. */
function validateStub(at: FieldPath, spec: PodCertificateRequestSpec): void {
  const path = at.field('stubPKCS10Request');
  const stub = spec.stubPKCS10Request ?? '';
  const request = readStub(stub);
  if (request === undefined) path.invalid(stub, 'must be a valid PKCS#10 certificate signing request');
  else if (keyAt(path, stub, request.publicKey) !== undefined && request.signatureProblem !== undefined)
    path.invalidUnshown('could not verify the signature of the certificate signing request');
}

function readStub(stub: string): CertificationRequest | undefined {
  try {
    return readRequestDer(Buffer.from(stub, 'base64'));
  } catch {
    return undefined;
  }
}

/** The public key in the field at this path, whose value messages show; undefined after a report of what is wrong with it. */
function keyAt(at: FieldPath, value: string, der: Buffer): KeyObject | undefined {
  const read = readPodKey(der);
  if (read.problem === undefined) return read.key;
  at.invalid(read.shown ?? value, read.problem);
  return undefined;
}
