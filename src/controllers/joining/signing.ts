import { readFileSync } from 'node:fs';
import { SIGNING_REQUESTS } from '../../api/known-resources.ts';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestSpec,
} from '../../api/types/certificates/v1.ts';
import { toObject } from '../../storage/object-reader.ts';
import { errorText } from '../../util/error-text.ts';
import { type CertificationRequest, readCertificationRequest } from '../../x509/certification-request.ts';
import type { DueRule } from '../cleaning/due-objects.ts';
import { isKnownSigner, whyRefused } from './signers.ts';
import { awaitsCertificate, conditionAt, writeStatus } from './signing-requests.ts';

/** The authority that signs: paths of PEM files, which are read for each certificate, so that they may be renewed. */
export interface SigningFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

interface SigningOptions extends SigningFiles {
  /** The longest validity of a certificate. */
  readonly durationMs: number;
}

/** Repeats what failed, such as signing with an authority that has expired, after this time. */
const RETRY_MS = 30_000;

/**
 * Signs approved requests for the signers that Kubernetes has (Kubernetes: pkg/controller/certificates/signer). A request that
 * its signer does not sign gets the condition Failed. One for another signer is left to that signer.
 */
export const clusterSigning = (
  options: SigningOptions,
  { now, onTrouble }: { readonly now: () => Date; readonly onTrouble: (trouble: string) => void },
): DueRule<CertificateSigningRequest> => ({
  resource: SIGNING_REQUESTS,
  manager: 'certificate-signer',
  mayBeDue: () => true,
  dueAt: (request) => (isDue(request) ? 0 : undefined),
  act: async (entry, client) => {
    const outcome = await sign(toObject<CertificateSigningRequest>(entry).spec ?? {}, options, now());
    if (outcome.kind === 'trouble') {
      onTrouble(`${entry.name}: ${outcome.why}`);
      return RETRY_MS;
    }
    await writeStatus(client, entry, 'status', {
      holds: isDue,
      status: (before) =>
        outcome.kind === 'signed'
          ? { ...before, certificate: Buffer.from(outcome.pem).toString('base64') }
          : { ...before, conditions: [...(before.conditions ?? []), failure(now(), outcome.why)] },
    });
    return undefined;
  },
});

const isDue = (request: CertificateSigningRequest): boolean =>
  isKnownSigner(request.spec ?? {}) && awaitsCertificate(request);

const failure = (now: Date, message: string) =>
  conditionAt(now, { type: 'Failed', reason: 'SignerValidationFailure', message });

/** `refused`: the signer will never sign it. `trouble`: it may, later. */
interface Problem {
  readonly kind: 'refused' | 'trouble';
  readonly why: string;
}
type Outcome = { readonly kind: 'signed'; readonly pem: string } | Problem;

async function sign(
  spec: CertificateSigningRequestSpec,
  { certFile, keyFile, durationMs }: SigningOptions,
  now: Date,
): Promise<Outcome> {
  const checked = check(spec);
  if ('kind' in checked) return checked;
  // Loads the library with the first certificate.
  const { readIssuer, issueCertificate } = await import('../../x509/issuing.ts');
  const issuer = await attempt('trouble', () =>
    readIssuer({ certificate: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }),
  );
  if ('kind' in issuer) return issuer;
  const lastMs = issuer.certificate.notAfter.getTime();
  if (now.getTime() >= lastMs)
    return { kind: 'trouble', why: `the signing certificate ${certFile} has expired` };
  const wishMs = wishedMs(spec.expirationSeconds, durationMs);
  const policy = { ...validity(now.getTime(), wishMs, lastMs), usages: spec.usages ?? [] };
  return attempt('refused', async (): Promise<Outcome> => {
    return { kind: 'signed', pem: await issueCertificate(issuer, checked.request, policy) };
  });
}

/** Far more than any client reads. Encoding very many would hold up the requests of this server. */
const MAX_NAMES = 1000;

function check(spec: CertificateSigningRequestSpec): { readonly request: CertificationRequest } | Problem {
  let request: CertificationRequest;
  try {
    request = readCertificationRequest(spec.request ?? '');
  } catch (error) {
    // Validation refuses such a request, and every write of one that was stored nevertheless.
    return { kind: 'trouble', why: errorText(error) };
  }
  const { names, signatureProblem } = request;
  if (signatureProblem !== undefined) return { kind: 'trouble', why: signatureProblem };
  const isLong = names.length > MAX_NAMES;
  const why = isLong ? `more than ${MAX_NAMES} subjectAltNames are not allowed` : whyRefused(spec, request);
  return why === undefined ? { request } : { kind: 'refused', why };
}

async function attempt<Result>(
  kind: 'refused' | 'trouble',
  work: () => Promise<Result>,
): Promise<Result | Problem> {
  try {
    return await work();
  } catch (error) {
    return { kind, why: errorText(error) };
  }
}

const SHORTEST_MS = 600_000;

const wishedMs = (seconds: number | undefined, longestMs: number): number =>
  seconds === undefined ? longestMs : Math.min(Math.max(seconds * 1000, SHORTEST_MS), longestMs);

/** Clocks of nodes differ, so a certificate is valid from a little earlier. */
const BACKDATE_MS = 5 * 60_000;
/** The end of shorter ones is not moved. */
const SHORT_MS = 8 * 60 * 60_000;

/** Kubernetes: pkg/controller/certificates/authority. */
export function validity(
  nowMs: number,
  wishMs: number,
  lastMs: number,
): { readonly notBeforeMs: number; readonly notAfterMs: number } {
  const endMs = nowMs + wishMs - (wishMs < SHORT_MS ? 0 : BACKDATE_MS);
  return { notBeforeMs: nowMs - BACKDATE_MS, notAfterMs: Math.min(endMs, lastMs) };
}
