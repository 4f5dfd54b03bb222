import type { ResourceOf } from '../../api/names.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import type { Job } from '../../api/types/batch/v1.ts';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from '../../api/types/certificates/v1.ts';
import type { PodCertificateRequest } from '../../api/types/certificates/v1alpha1.ts';
import type { Lease } from '../../api/types/coordination/v1.ts';
import type { Secret } from '../../api/types/core/v1.ts';
import { isBootstrapToken, tokenExpiry } from '../../authn/bootstrap-token.ts';
import { toResourceVersion } from '../../storage/revision.ts';
import type { Entry } from '../../storage/store.ts';
import type { Client, RemoveOptions } from '../../verbs/client/client.ts';
import { readCertificate } from '../../x509/certificate.ts';
import { certificatesIn } from '../../x509/pem.ts';
import { IDENTITY, IDENTITY_LABEL } from '../server-identity.ts';
import type { DueRule } from './due-objects.ts';

/** Objects that name the time of their deletion. A change to one meanwhile causes a new decision. */

type Expiry<T extends ApiObject> = Pick<DueRule<T>, 'resource' | 'manager' | 'mayBeDue'> &
  Pick<RemoveOptions, 'propagationPolicy'> & {
    /** As {@link DueRule.dueAt}, for an object that is not being deleted. */
    expiresAt(object: T): number | undefined;
  };

const expiring = <T extends ApiObject>({
  propagationPolicy = 'Background',
  expiresAt,
  ...rule
}: Expiry<T>): DueRule<T> => ({
  ...rule,
  dueAt: (object) => (object.metadata.deletionTimestamp === undefined ? expiresAt(object) : undefined),
  act: (entry, client) => removeAsSeen(rule.resource, entry, client, propagationPolicy),
});

async function removeAsSeen(
  resource: ResourceOf<ApiObject>,
  { namespace, name, uid, revision }: Entry,
  client: Client,
  propagationPolicy: RemoveOptions['propagationPolicy'] & string,
): Promise<undefined> {
  const resourceVersion = toResourceVersion(revision);
  await client.remove(resource, { namespace, name }, { uid, resourceVersion, propagationPolicy });
}

const HOUR_MS = 60 * 60 * 1000;
const SYSTEM = 'kube-system';

/** Undefined: the time is absent or invalid. */
function toMs(time: string | null | undefined): number | undefined {
  const ms = Date.parse(time ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

const after = (time: string | null | undefined, ms: number): number | undefined => {
  const from = toMs(time);
  return from === undefined ? undefined : from + ms;
};

const TTL_FIELD = Buffer.from('"ttlSecondsAfterFinished":');

/** Finished jobs, ttlSecondsAfterFinished later (Kubernetes: pkg/controller/ttlafterfinished). Deletes their pods first. */
export const finishedJobs: DueRule<Job> = expiring<Job>({
  resource: { group: 'batch', resource: 'jobs' },
  manager: 'ttl-after-finished-controller',
  propagationPolicy: 'Foreground',
  mayBeDue: ({ json }) => json.includes(TTL_FIELD),
  expiresAt: ({ spec, status }) => {
    const seconds = spec?.ttlSecondsAfterFinished;
    const finished = (status?.conditions ?? []).find(
      ({ type, status: isTrue }) => (type === 'Complete' || type === 'Failed') && isTrue === 'True',
    );
    return seconds === undefined ? undefined : after(finished?.lastTransitionTime, seconds * 1000);
  },
});

/** Bootstrap tokens that have expired (Kubernetes: pkg/controller/bootstrap/tokencleaner). */
export const expiredBootstrapTokens: DueRule<Secret> = expiring<Secret>({
  resource: { group: '', resource: 'secrets' },
  manager: 'token-cleaner',
  mayBeDue: ({ namespace }) => namespace === SYSTEM,
  expiresAt: (secret) => (isBootstrapToken(secret) ? tokenExpiry(secret) : undefined),
});

const DECIDED_MS = HOUR_MS;
const PENDING_MS = 24 * HOUR_MS;

/** Requests for certificates that were decided, or left undecided for long (Kubernetes: pkg/controller/certificates/cleaner). */
export const oldSigningRequests: DueRule<CertificateSigningRequest> = expiring<CertificateSigningRequest>({
  resource: { group: 'certificates.k8s.io', resource: 'certificatesigningrequests' },
  manager: 'certificate-controller',
  mayBeDue: () => true,
  expiresAt: (request) => {
    const conditions = request.status?.conditions ?? [];
    if (conditions.length === 0) return after(request.metadata.creationTimestamp, PENDING_MS);
    const times = conditions.flatMap((condition) => endsOf(condition, request));
    return times.length === 0 ? undefined : Math.min(...times);
  },
});

const POD_REQUEST_MS = 15 * 60_000;

/**
 * Requests for certificates of pods: their node agent has taken the answer, or given up (Kubernetes:
 * pkg/controller/certificates/cleaner, PCRCleanerController).
 */
export const oldPodRequests: DueRule<PodCertificateRequest> = expiring<PodCertificateRequest>({
  resource: { group: 'certificates.k8s.io', resource: 'podcertificaterequests' },
  manager: 'podcertificaterequest-cleaner',
  mayBeDue: () => true,
  expiresAt: ({ metadata }) => after(metadata.creationTimestamp, POD_REQUEST_MS),
});

/** When a decided request may go. An approved one without a certificate stays. */
function endsOf(
  { type, lastUpdateTime }: CertificateSigningRequestCondition,
  { status }: CertificateSigningRequest,
): number[] {
  const certificate = status?.certificate ?? '';
  if (type === 'Approved' && certificate === '') return [];
  if (type !== 'Approved' && type !== 'Denied' && type !== 'Failed') return [];
  const decided = after(lastUpdateTime, DECIDED_MS);
  const expired = type === 'Approved' ? expiryOf(certificate) : undefined;
  return [decided, expired].filter((time) => time !== undefined);
}

function expiryOf(certificate: string): number | undefined {
  const [first] = certificatesIn(Buffer.from(certificate, 'base64').toString());
  if (first === undefined) return undefined;
  try {
    return readCertificate(first).notAfterMs;
  } catch {
    return undefined;
  }
}

/**
 * Identity leases of API servers that have expired; those without a duration never do (Kubernetes:
 * pkg/controlplane/controller/apiserverleasegc).
 */
export const deadServerLeases: DueRule<Lease> = expiring<Lease>({
  resource: { group: 'coordination.k8s.io', resource: 'leases' },
  manager: 'apiserver-lease-gc',
  mayBeDue: ({ namespace, labels }) => namespace === SYSTEM && labels[IDENTITY_LABEL] === IDENTITY,
  expiresAt: ({ spec: { renewTime, leaseDurationSeconds } = {} }) =>
    leaseDurationSeconds === undefined ? 0 : (after(renewTime, leaseDurationSeconds * 1000) ?? 0),
});
