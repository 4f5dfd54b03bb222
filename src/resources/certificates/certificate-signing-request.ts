import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from '../../api/types/certificates/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkName, type NameRule } from '../../object/text-formats.ts';
import type { UserInfo } from '../../request/api-request.ts';
import { errorText } from '../../util/error-text.ts';
import { readCertificationRequest } from '../../x509/certification-request.ts';
import { age, humanDuration, NONE } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked, type Ratchet, ratchetOf } from '../rules/checked.ts';
import { mustBeOneOf, UniqueNames } from '../rules/name-rules.ts';
import { approval, signing } from './request-status.ts';

/** Rules that v1beta1 did not have: its stored objects may go on breaking them (Kubernetes: certificates/validation). */
const RATCHETS: readonly Ratchet[] = [
  ratchetOf(/^spec\.signerName$/, /the legacy signerName is not allowed via this API version$/),
  ratchetOf(/^spec\.usages\[\d+\]$/, /^Unsupported value/),
  ratchetOf(/^spec\.usages\[\d+\]$/, /^Duplicate value/),
  ratchetOf(/^status\.conditions\[\d+\]\.type$/, /^Required value/),
  ratchetOf(/^status\.conditions\[\d+\]\.type$/, /^Duplicate value/),
  ratchetOf(/^status\.conditions\[\d+\]\.type$/, /are mutually exclusive$/),
];

export const certificatesigningrequests = define<CertificateSigningRequest>({
  group: 'certificates.k8s.io',
  resource: 'certificatesigningrequests',
  kind: 'CertificateSigningRequest',
  namespaced: false,
  shortNames: ['csr'],
  versions: [{ version: 'v1', type: 'certificates/v1.CertificateSigningRequest' }],
  subresources: [signing, approval],
  table: {
    columns: [
      nameColumn(),
      column('Age'),
      column('SignerName'),
      column('Requestor'),
      column('RequestedDuration'),
      column('Condition'),
    ],
    cells: (request, now) => {
      const { signerName, username = '', expirationSeconds } = request.spec ?? {};
      return [
        request.metadata.name ?? '',
        age(request, now),
        signerName || NONE,
        username,
        expirationSeconds === undefined ? NONE : humanDuration(expirationSeconds * 1000),
        conditionText(request),
      ];
    },
  },
  fields: {
    paths: {
      'spec.signerName': ['spec.signerName'],
    },
  },
  ratchets: RATCHETS,
  strategy: {
    nameRule: 'path-segment',
    resetFields: [['spec'], ['status']],
    prepareForCreate: (request, user) => {
      setRequester(request, user);
      request.status = {};
    },
    prepareForUpdate: (request, { spec, status }) => {
      Object.assign(request, { spec, status });
    },
    validate: checked(validate),
  },
});

function conditionText({ status = {} }: CertificateSigningRequest): string {
  const types = (status.conditions ?? []).map(({ type }) => type);
  const verdict = ['Denied', 'Approved'].find((type) => types.includes(type)) ?? 'Pending';
  return [
    verdict,
    ...(types.includes('Failed') ? ['Failed'] : []),
    ...(status.certificate === undefined ? [] : ['Issued']),
  ].join(',');
}

/** The server writes the sender's name into a request, over any that the request gives. */
function setRequester({ spec = {} }: CertificateSigningRequest, user: UserInfo | undefined): void {
  for (const name of ['username', 'uid', 'groups', 'extra'] as const) delete spec[name];
  if (user === undefined) return;
  if (user.username !== '') spec.username = user.username;
  if (user.uid !== '') spec.uid = user.uid;
  if (user.groups.length > 0) spec.groups = [...user.groups];
  const extra = Object.entries(user.extra);
  if (extra.length > 0) spec.extra = Object.fromEntries(extra.map(([key, values]) => [key, [...values]]));
}

function validate(root: FieldPath, { spec = {}, status = {} }: CertificateSigningRequest): void {
  const at = root.field('spec');
  const { request, usages = [], signerName = '', expirationSeconds } = spec;
  const problem = requestProblem(request ?? '');
  if (problem !== undefined) at.field('request').invalid(request, problem);
  validateUsages(at.field('usages'), usages);
  validateSigner(at.field('signerName'), signerName);
  validateExpiration(at.field('expirationSeconds'), expirationSeconds);
  validateConditions(root.field('status').field('conditions'), status.conditions ?? []);
}

/** A request must be signed with its own key: a signature by another key proves nothing. */
function requestProblem(request: string): string | undefined {
  try {
    return readCertificationRequest(request).signatureProblem;
  } catch (error) {
    return errorText(error);
  }
}

const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];

function validateUsages(at: FieldPath, usages: readonly string[]): void {
  if (usages.length === 0) at.required();
  const seen = new Set<string>();
  for (const [path, usage] of at.each(usages)) {
    mustBeOneOf(path, usage, USAGES);
    if (seen.has(usage)) path.duplicate(usage);
    seen.add(usage);
  }
}

const LEGACY_SIGNER = 'kubernetes.io/legacy-unknown';

function validateSigner(at: FieldPath, signer: string): void {
  if (signer === LEGACY_SIGNER)
    at.invalid(signer, 'the legacy signerName is not allowed via this API version');
  else mustBeSignerName(at, signer);
}

const MIN_EXPIRATION_SECONDS = 600;

function validateExpiration(at: FieldPath, seconds: number | undefined): void {
  if (seconds !== undefined && seconds < MIN_EXPIRATION_SECONDS)
    at.invalid(seconds, 'may not specify a duration less than 600 seconds (10 minutes)');
}

function validateConditions(at: FieldPath, conditions: readonly CertificateSigningRequestCondition[]): void {
  for (const [path, condition] of at.each(conditions)) validateCondition(path, condition);
  validateVerdict(at, conditions);
  const types = new UniqueNames();
  for (const [path, { type = '' }] of at.each(conditions)) types.add(path.field('type'), type);
}

const CONDITION_STATUSES = ['False', 'True', 'Unknown'];
/** Conditions that are always true. */
const FINAL = ['Approved', 'Denied', 'Failed'];

function validateCondition(
  at: FieldPath,
  { type = '', status = '' }: CertificateSigningRequestCondition,
): void {
  if (type === '') at.field('type').required();
  if (status === '') at.field('status').required();
  else mustBeOneOf(at.field('status'), status, FINAL.includes(type) ? ['True'] : CONDITION_STATUSES);
}

const OPPOSITES: ReadonlyMap<string, string> = new Map([
  ['Approved', 'Denied'],
  ['Denied', 'Approved'],
]);

/** A request is approved or denied, never both. */
function validateVerdict(at: FieldPath, conditions: readonly CertificateSigningRequestCondition[]): void {
  const seen = new Set<string>();
  for (const [path, { type = '' }] of at.each(conditions)) {
    if (seen.has(OPPOSITES.get(type) ?? ''))
      path.field('type').invalid(type, 'Approved and Denied conditions are mutually exclusive');
    if (type !== '') seen.add(type);
  }
}

const MAX_DOMAIN = 253;
const MAX_NAME = MAX_DOMAIN + 1 + MAX_DOMAIN + 1 + 63;

/** `example.com/my-signer`. The path must leave room for a namespace and a name. */
export function mustBeSignerName(at: FieldPath, name: string): void {
  if (name === '') {
    at.required();
    return;
  }
  const [domain = '', rest, ...more] = name.split('/');
  if (rest === undefined || more.length > 0) {
    at.invalid(name, "must be a fully qualified domain and path of the form 'example.com/signer-name'");
    return;
  }
  if (domain.length > MAX_DOMAIN) at.tooLong(MAX_DOMAIN);
  mustHaveGoodLabels(at, domain, 'dns-label');
  if (!domain.includes('.'))
    at.invalid(domain, 'should be a domain with at least two segments separated by dots');
  mustHaveGoodLabels(at, rest, 'dns-subdomain');
  if (name.length > MAX_NAME) at.tooLong(MAX_NAME);
}

/** Reports one invalid label; others would repeat the message. */
function mustHaveGoodLabels(at: FieldPath, value: string, rule: NameRule): void {
  for (const label of value.split('.')) {
    const reasons = checkName(label, rule);
    for (const why of reasons) at.invalid(value, `validating label ${JSON.stringify(label)}: ${why}`);
    if (reasons.length > 0) return;
  }
}
