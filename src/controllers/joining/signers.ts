import type { CertificateSigningRequestSpec } from '../../api/types/certificates/v1.ts';
import type { CertificationRequest } from '../../x509/certification-request.ts';

/** The signers of Kubernetes' own certificates, and what each refuses (Kubernetes: pkg/apis/certificates, helpers.go). */

export const KUBELET_CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet';
const KUBELET_SERVING = 'kubernetes.io/kubelet-serving';
const API_CLIENT = 'kubernetes.io/kube-apiserver-client';
const LEGACY_UNKNOWN = 'kubernetes.io/legacy-unknown';

/** Why a signer does not sign a request. Undefined: it does. */
type Refusal = (request: CertificationRequest, usages: readonly string[]) => string | undefined;

const REFUSALS: ReadonlyMap<string, Refusal> = new Map<string, Refusal>([
  [KUBELET_CLIENT, refuseKubeletClient],
  [KUBELET_SERVING, refuseKubeletServing],
  [API_CLIENT, (_request, usages) => refuseClientUsages(usages)],
  [LEGACY_UNKNOWN, () => undefined],
]);

/** Whether this server signs for the signer. */
export const isKnownSigner = ({ signerName = '' }: CertificateSigningRequestSpec): boolean =>
  REFUSALS.has(signerName);

/** Why the signer of the request does not sign it. Undefined: it does. */
export const whyRefused = (
  { signerName = '', usages = [] }: CertificateSigningRequestSpec,
  request: CertificationRequest,
): string | undefined => REFUSALS.get(signerName)?.(request, usages);

function refuseKubeletClient(request: CertificationRequest, usages: readonly string[]): string | undefined {
  const { subject, names } = request;
  const has = (kind: string): boolean => names.some((name) => name.kind === kind);
  if (!isOfNodes(request)) return NOT_OF_NODES;
  if (has('dns')) return 'DNS subjectAltNames are not allowed';
  if (has('email')) return 'Email subjectAltNames are not allowed';
  if (has('ip')) return 'IP subjectAltNames are not allowed';
  if (has('uri')) return 'URI subjectAltNames are not allowed';
  if (!subject.commonName.startsWith(NODE_PREFIX)) return NOT_A_NODE;
  return refuseKubeletUsages(usages, 'client auth');
}

function refuseKubeletServing(request: CertificationRequest, usages: readonly string[]): string | undefined {
  const { subject, names } = request;
  const has = (kind: string): boolean => names.some((name) => name.kind === kind);
  if (!isOfNodes(request)) return NOT_OF_NODES;
  if (!has('dns') && !has('ip')) return 'DNS or IP subjectAltName is required';
  if (has('email')) return 'Email subjectAltNames are not allowed';
  if (has('uri')) return 'URI subjectAltNames are not allowed';
  const why = refuseKubeletUsages(usages, 'server auth');
  if (why !== undefined) return why;
  return subject.commonName.startsWith(NODE_PREFIX) ? undefined : NOT_A_NODE;
}

const NODE_PREFIX = 'system:node:';
const NOT_A_NODE = `subject common name does not begin with ${NODE_PREFIX}`;
const NOT_OF_NODES = 'subject organization is not system:nodes';

const isOfNodes = ({ subject: { organizations } }: CertificationRequest): boolean =>
  organizations.length === 1 && organizations[0] === 'system:nodes';

/** Keys other than RSA need no key encipherment. */
function refuseKubeletUsages(usages: readonly string[], purpose: string): string | undefined {
  const given = new Set(usages);
  given.delete('key encipherment');
  const fits = given.size === 2 && given.has('digital signature') && given.has(purpose);
  const wanted = [purpose, 'digital signature', 'key encipherment'].sort();
  return fits ? undefined : `usages did not match [${wanted.join(' ')}]`;
}

const CLIENT_USAGES = ['digital signature', 'key encipherment', 'client auth'];

function refuseClientUsages(usages: readonly string[]): string | undefined {
  const wrong = usages.find((usage) => !CLIENT_USAGES.includes(usage));
  if (wrong !== undefined) return `invalid usage for client certificate: ${wrong}`;
  return usages.includes('client auth')
    ? undefined
    : 'missing required usage for client certificate: client auth';
}
