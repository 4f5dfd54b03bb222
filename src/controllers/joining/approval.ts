import type { Access } from '../../admission/plugin.ts';
import { SIGNING_REQUESTS } from '../../api/known-resources.ts';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestSpec,
} from '../../api/types/certificates/v1.ts';
import type { UserInfo } from '../../request/api-request.ts';
import { toObject } from '../../storage/object-reader.ts';
import { type CertificationRequest, readCertificationRequest } from '../../x509/certification-request.ts';
import type { DueRule } from '../cleaning/due-objects.ts';
import { KUBELET_CLIENT, whyRefused } from './signers.ts';
import { conditionAt, isIssued, isUndecided, writeStatus } from './signing-requests.ts';

/** A user without the right may get it later, by a binding that is written after the request. */
const ASK_AGAIN_MS = 30_000;

const isDue = (request: CertificateSigningRequest): boolean =>
  request.spec?.signerName === KUBELET_CLIENT && isUndecided(request) && !isIssued(request);

/**
 * Approves the client certificates of kubelets whose requesters have the right to it: `selfnodeclient` for a node that renews its
 * own, `nodeclient` for any (Kubernetes: pkg/controller/certificates/approver). All other requests wait for an administrator.
 */
export const kubeletApproval = (access: Access, now: () => Date): DueRule<CertificateSigningRequest> => ({
  resource: SIGNING_REQUESTS,
  manager: 'certificate-approver',
  mayBeDue: () => true,
  dueAt: (request) => (isDue(request) ? 0 : undefined),
  act: async (entry, client) => {
    const { spec = {} } = toObject<CertificateSigningRequest>(entry);
    const request = readKubeletRequest(spec);
    if (request === undefined) return undefined;
    const message = await findRight(access, spec, request);
    if (message === undefined) return ASK_AGAIN_MS;
    const approved = conditionAt(now(), { type: 'Approved', reason: 'AutoApproved', message });
    await writeStatus(client, entry, 'approval', {
      holds: isDue,
      status: (before) => ({ ...before, conditions: [...(before.conditions ?? []), approved] }),
    });
    return undefined;
  },
});

/** Undefined: no request of a kubelet for its client certificate. */
function readKubeletRequest(spec: CertificateSigningRequestSpec): CertificationRequest | undefined {
  try {
    const request = readCertificationRequest(spec.request ?? '');
    return whyRefused(spec, request) === undefined ? request : undefined;
  } catch {
    return undefined;
  }
}

/** Why the requester may have the certificate. Undefined: the requester may not. */
async function findRight(
  access: Access,
  spec: CertificateSigningRequestSpec,
  { subject }: CertificationRequest,
): Promise<string | undefined> {
  const user = toUser(spec);
  const may = async (subresource: string): Promise<boolean> =>
    (await access.whyNot(user, { ...SIGNING_REQUESTS, version: '*', verb: 'create', subresource })) ===
    undefined;
  if (user.username === subject.commonName && (await may('selfnodeclient')))
    return 'Auto approving self kubelet client certificate after SubjectAccessReview.';
  if (await may('nodeclient')) return 'Auto approving kubelet client certificate after SubjectAccessReview.';
  return undefined;
}

const toUser = ({
  username = '',
  uid = '',
  groups = [],
  extra = {},
}: CertificateSigningRequestSpec): UserInfo => ({
  username,
  uid,
  groups: [...groups],
  extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...(values ?? [])]])),
});
