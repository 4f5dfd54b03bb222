import type { ApiObject } from '../../../api/object-meta.ts';
import { goQuote } from '../../../object/go-value.ts';
import { part, text } from '../../../object/parts.ts';
import { readCertificationRequest } from '../../../x509/certification-request.ts';
import type { AdmissionAttributes } from '../../admission.ts';
import { refusal } from '../../refusal.ts';
import type { NodeWrite } from './node-write.ts';

/** Objects of which each node has its own. */

const LEASES = 'kube-node-lease';
const NODE_SIGNERS = ['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet'];

export function checkLease({ node, attributes }: NodeWrite): void {
  if (attributes.namespace !== LEASES)
    throw refusal(attributes, `can only access leases in the ${goQuote(LEASES)} system namespace`);
  if (writtenName(attributes) !== node)
    throw refusal(attributes, 'can only access node lease with the same name as the requesting node');
}

export function checkCsiNode({ node, attributes }: NodeWrite): void {
  if (writtenName(attributes) !== node)
    throw refusal(attributes, 'can only access CSINode with the same name as the requesting node');
}

const writtenName = ({ operation, name, object }: AdmissionAttributes): string =>
  operation === 'CREATE' ? text(object?.metadata.name) : name;

/** Other writes are the authorizer's, which knows the slices that are there, but neither new ones nor those of a collection. */
export function checkResourceSlice({ node, attributes }: NodeWrite): void {
  const { operation, object, old } = attributes;
  const nodeOf = (slice: ApiObject | undefined): string => text(part(slice, 'spec').nodeName);
  if (operation === 'CREATE' && nodeOf(object) !== node)
    throw refusal(attributes, 'can only create ResourceSlice with the same NodeName as the requesting node');
  if (operation === 'DELETE' && nodeOf(old) !== node)
    throw refusal(attributes, 'can only delete ResourceSlice with the same NodeName as the requesting node');
}

/** A node asks for certificates of its own name. What else is in a request is its signer's to check. */
export function checkCertificateRequest({ node, attributes }: NodeWrite): void {
  if (attributes.operation !== 'CREATE') return;
  const { signerName, request } = part(attributes.object, 'spec');
  if (!NODE_SIGNERS.includes(text(signerName))) return;
  const wanted = `system:node:${node}`;
  if (commonNameOf(text(request), attributes) !== wanted)
    throw refusal(attributes, `can only create a node CSR with CN=${wanted}`);
}

/** The request is not validated yet. */
function commonNameOf(request: string, attributes: AdmissionAttributes): string {
  try {
    return readCertificationRequest(request).subject.commonName;
  } catch (error) {
    throw refusal(
      attributes,
      `unable to parse csr: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
