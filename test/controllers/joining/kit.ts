import { SIGNING_REQUESTS } from '../../../src/api/known-resources.ts';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestSpec,
} from '../../../src/api/types/certificates/v1.ts';
import type { DueRule } from '../../../src/controllers/cleaning/due-objects.ts';
import { certificatesigningrequests } from '../../../src/resources/certificates/certificate-signing-request.ts';
import { createTestClient } from '../../kit/client.ts';

/** What a rule does with one request. */
export async function actOn(
  rule: DueRule<CertificateSigningRequest>,
  spec: CertificateSigningRequestSpec,
  status: CertificateSigningRequest['status'] = {},
) {
  const { client, store } = createTestClient({ definitions: [certificatesigningrequests] });
  const request = {
    kind: 'CertificateSigningRequest',
    apiVersion: 'certificates.k8s.io/v1',
    metadata: { name: 'r' },
    spec,
    ...(status === undefined ? {} : { status }),
  };
  store.put('certificates.k8s.io', 'certificatesigningrequests', request);
  const [entry] = await client.entries(SIGNING_REQUESTS);
  if (entry === undefined) throw new Error('the request is gone');
  const isDue = rule.dueAt(request) !== undefined;
  const againMs = isDue ? await rule.act(entry, client) : undefined;
  const written = await client.get(SIGNING_REQUESTS, { name: 'r' });
  return { isDue, againMs, status: written?.status ?? {}, commits: store.commits.length };
}
