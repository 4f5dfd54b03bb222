import { SIGNING_REQUESTS } from '../../api/known-resources.ts';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
  CertificateSigningRequestStatus,
} from '../../api/types/certificates/v1.ts';
import { toTimestamp } from '../../object/timestamps.ts';
import type { Entry } from '../../storage/store.ts';
import type { Client } from '../../verbs/client/client.ts';

const hasCondition = ({ status }: CertificateSigningRequest, type: string): boolean =>
  (status?.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');

/** Neither approved nor denied. */
export const isUndecided = (request: CertificateSigningRequest): boolean =>
  !hasCondition(request, 'Approved') && !hasCondition(request, 'Denied');

export const isIssued = ({ status }: CertificateSigningRequest): boolean =>
  (status?.certificate ?? '') !== '';

/** Approved, and still without a result. */
export const awaitsCertificate = (request: CertificateSigningRequest): boolean =>
  hasCondition(request, 'Approved') &&
  !hasCondition(request, 'Denied') &&
  !hasCondition(request, 'Failed') &&
  !isIssued(request);

/** A condition that holds from this time. */
export function conditionAt(
  now: Date,
  condition: Pick<CertificateSigningRequestCondition, 'type' | 'reason' | 'message'>,
): CertificateSigningRequestCondition {
  const time = toTimestamp(now);
  return { ...condition, status: 'True', lastUpdateTime: time, lastTransitionTime: time };
}

/** Writes a part of the status of the request in this entry, if it is still the same request and `holds` for it. */
export async function writeStatus(
  client: Client,
  { name, uid }: Entry,
  subresource: 'approval' | 'status',
  change: {
    readonly holds: (request: CertificateSigningRequest) => boolean;
    readonly status: (before: CertificateSigningRequestStatus) => CertificateSigningRequestStatus;
  },
): Promise<void> {
  await client.updateState(SIGNING_REQUESTS, { name, subresource }, (copy) =>
    copy.metadata.uid === uid && change.holds(copy)
      ? { ...copy, status: change.status(copy.status ?? {}) }
      : copy,
  );
}
