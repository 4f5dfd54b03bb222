import { createPublicKey, X509Certificate } from 'node:crypto';
import type {
  PodCertificateRequest,
  PodCertificateRequestSpec,
  PodCertificateRequestStatus,
} from '../../api/types/certificates/v1alpha1.ts';
import { equal } from '../../object/equality.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { goQuote, goText } from '../../object/go-value.ts';
import { readRequestDer } from '../../x509/certification-request.ts';
import { type PemBlock, pemBlocks } from '../../x509/pem.ts';
import { mustBeConditions } from '../rules/condition-rules.ts';

/** How a signer answers the request of a pod: once, with a certificate or a refusal (Kubernetes: certificates/validation). */

const ENDS = ['Issued', 'Denied', 'Failed'] as const;
type End = (typeof ENDS)[number];

export function validateIssuing(
  root: FieldPath,
  request: PodCertificateRequest,
  old: PodCertificateRequest,
): void {
  const at = root.field('status');
  const { status = {} } = request;
  const found = at.found;
  validateConditions(at.field('conditions'), status);
  if (at.found > found) return;
  if (endOf(old.status ?? {}) !== undefined)
    mustEqual(
      at,
      status,
      old.status ?? {},
      'immutable after PodCertificateRequest is issued, denied, or failed',
    );
  else if (endOf(status) === 'Issued') validateCertificate(at, request);
  else if (endOf(status) !== undefined)
    mustEqual(
      at,
      status,
      { conditions: status.conditions ?? [] },
      'non-condition status fields must be empty when denying or failing the PodCertificateRequest',
    );
  else
    mustEqual(
      at,
      status,
      old.status ?? {},
      'status is immutable unless transitioning to "Issued", "Denied", or "Failed"',
    );
}

const endOf = ({ conditions = [] }: PodCertificateRequestStatus): End | undefined =>
  ENDS.find((end) => conditions.some(({ type, status }) => type === end && status === 'True'));

/** `at` is the status, of which a message shows nothing. */
function mustEqual(
  at: FieldPath,
  status: PodCertificateRequestStatus,
  wanted: PodCertificateRequestStatus,
  why: string,
): void {
  if (!equal(status, wanted)) at.invalidUnshown(why);
}

function validateConditions(at: FieldPath, { conditions = [] }: PodCertificateRequestStatus): void {
  let ends = 0;
  for (const [path, { type = '', status }] of at.each(conditions)) {
    if (!ENDS.some((end) => end === type)) {
      path.field('type').notSupported(type, ENDS);
      continue;
    }
    ends += 1;
    if (ends > 1)
      path
        .field('type')
        .invalid(type, 'There may be at most one condition with type "Issued", "Denied", or "Failed"');
    if (status !== 'True') path.field('status').notSupported(status ?? '', ['True']);
  }
  mustBeConditions(at, conditions);
}

const MAX_CHAIN_BYTES = 100 * 1024;

function validateCertificate(at: FieldPath, { spec = {}, status = {} }: PodCertificateRequest): void {
  const path = at.field('certificateChain');
  const { certificateChain: chain = '' } = status;
  if (Buffer.byteLength(chain) > MAX_CHAIN_BYTES) {
    path.tooLong(MAX_CHAIN_BYTES);
    return;
  }
  const [leaf, ...rest] = [...pemBlocks(chain)];
  const certificate = leaf === undefined ? undefined : read(leaf);
  const problem = leafProblem(leaf, certificate);
  if (problem !== undefined || certificate === undefined) {
    path.invalid(chain, problem ?? '');
    return;
  }
  if (at.minor >= 35 && !hasGoodNames(path, certificate)) return;
  if (!isFor(certificate, spec)) {
    path.invalid(chain, 'leaf certificate was not issued to the requested public key');
    return;
  }
  if (!validateTimes(at, certificate, { status, mostSeconds: spec.maxExpirationSeconds ?? 0 })) return;
  const broken = rest.map(chainProblem).find((one) => one !== undefined);
  if (broken !== undefined) path.invalid(chain, broken);
}

/** Names and addresses as OpenSSL prints them: `DNS:a.example.com, email:a@example.com`. */
const ALTERNATIVES = /(DNS|email):("(?:[^"\\]|\\.)*"|[^,]*)/g;

/** Requires names that are no mistake in all likelihood, since 1.35. Returns whether all are. */
function hasGoodNames(at: FieldPath, { subjectAltName = '' }: X509Certificate): boolean {
  const found = at.found;
  for (const [, kind, text = ''] of subjectAltName.matchAll(ALTERNATIVES)) {
    const name = text.replace(/^"|"$/g, '');
    if (kind === 'DNS') mustBeLikely(at, name);
    else if (!/^[^@\s]+@[^@\s]+$/.test(name))
      at.invalid(name, 'leaf certificate should not contain invalid EmailAddress');
  }
  return at.found === found;
}

function mustBeLikely(at: FieldPath, name: string): void {
  if (name === '') at.invalid(name, 'leaf certificate should not contain empty DNSName');
  if (name.includes('..')) at.invalid(name, "leaf certificate's DNSName should not contain '..'");
  if (name.startsWith('.') || name.endsWith('.'))
    at.invalid(name, "leaf certificate's DNSName should not start or end with '.'");
}

function read({ type, der }: PemBlock): X509Certificate | undefined {
  if (type !== 'CERTIFICATE') return undefined;
  try {
    return new X509Certificate(der);
  } catch {
    return undefined;
  }
}

function leafProblem(
  leaf: PemBlock | undefined,
  certificate: X509Certificate | undefined,
): string | undefined {
  if (leaf === undefined) return 'issued certificate chain must contain at least one certificate';
  if (leaf.type !== 'CERTIFICATE')
    return 'issued certificate chain must consist entirely of CERTIFICATE PEM blocks';
  return certificate === undefined ? 'leaf certificate does not parse as valid X.509' : undefined;
}

function chainProblem(block: PemBlock): string | undefined {
  if (block.type !== 'CERTIFICATE')
    return 'issued certificate chain must consist entirely of CERTFICATE PEM blocks';
  return read(block) === undefined ? 'intermediate certificate does not parse as valid X.509' : undefined;
}

/** The request was valid when it was made. */
function isFor({ publicKey }: X509Certificate, spec: PodCertificateRequestSpec): boolean {
  const { pkixPublicKey = '', stubPKCS10Request = '' } = spec;
  const der =
    stubPKCS10Request === ''
      ? Buffer.from(pkixPublicKey, 'base64')
      : readRequestDer(Buffer.from(stubPKCS10Request, 'base64')).publicKey;
  return createPublicKey({ key: der, format: 'der', type: 'spki' }).equals(publicKey);
}

const TIMES = [
  ['notBefore', 'must be present and consistent with the issued certificate'],
  ['notAfter', 'must be present and consistent with the issued certificate'],
  ['beginRefreshAt', 'must be present and in the range [notbefore+10min, notafter-10min]'],
] as const;

const NANOSECONDS_PER_MS = 1_000_000;
const MINUTE_MS = 60_000;
const CLOCK_SKEW_MS = 5 * MINUTE_MS;
const MIN_LIFETIME_MS = 60 * MINUTE_MS;
const REFRESH_MARGIN_MS = 10 * MINUTE_MS;

interface Issued {
  readonly status: PodCertificateRequestStatus;
  readonly mostSeconds: number;
}

/** The times that the status repeats, for clients that do not read certificates. Returns whether they are right. */
function validateTimes(
  at: FieldPath,
  certificate: X509Certificate,
  { status, mostSeconds }: Issued,
): boolean {
  const found = at.found;
  for (const [field, why] of TIMES) if ((status[field] ?? '') === '') at.field(field).required(why);
  if (at.found > found) return false;
  const timeOf = (field: (typeof TIMES)[number][0]): number => Date.parse(status[field] ?? '');
  const [before, after, refresh] = [timeOf('notBefore'), timeOf('notAfter'), timeOf('beginRefreshAt')];
  const [from, until] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()];
  const refuse = (field: (typeof TIMES)[number][0], why: string): void =>
    at.field(field).invalid(goText(goQuote(status[field] ?? '')), why);
  const refuseChain = (why: string): void =>
    at.field('certificateChain').invalid(goText(String((until - from) * NANOSECONDS_PER_MS)), why);
  if (before !== from)
    refuse('notBefore', 'must be set to the NotBefore time encoded in the leaf certificate');
  else if (Math.abs(before - Date.now()) >= CLOCK_SKEW_MS)
    refuse('notBefore', "must be set to within 5 minutes of kube-apiserver's current time");
  else if (after !== until)
    refuse('notAfter', 'must be set to the NotAfter time encoded in the leaf certificate');
  else if (until - from < MIN_LIFETIME_MS) refuseChain('leaf certificate lifetime must be >= 1 hour');
  else if (until - from > mostSeconds * 1000)
    refuseChain(`leaf certificate lifetime must be <= spec.maxExpirationSeconds (${mostSeconds})`);
  else if (refresh < before + REFRESH_MARGIN_MS)
    refuse('beginRefreshAt', 'must be at least 10 minutes after status.notBefore');
  else if (refresh > after - REFRESH_MARGIN_MS)
    refuse('beginRefreshAt', 'must be at least 10 minutes before status.notAfter');
  return at.found === found;
}
