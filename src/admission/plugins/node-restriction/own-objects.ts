import type { ResourceOf } from '../../../api/names.ts';
import type { ResourceSlice } from '../../../api/types/resource/v1alpha3.ts';
import { goQuote } from '../../../object/go-value.ts';
import { readCertificationRequest } from '../../../x509/certification-request.ts';
import type { AdmissionAttributes } from '../../admission.ts';
import { refusal } from '../../refusal.ts';
import { SIGNING_REQUESTS } from '../../resources.ts';
import { isWriteOf } from '../../write-of.ts';
import type { WritingNode } from './writing-node.ts';

const RESOURCE_SLICES: ResourceOf<ResourceSlice> = { group: 'resource.k8s.io', resource: 'resourceslices' };

/** Objects of which each node has its own. */

const LEASES = 'kube-node-lease';
const NODE_SIGNERS = ['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet'];

export function checkLease(attributes: AdmissionAttributes, { node }: WritingNode): void {
  if (attributes.namespace !== LEASES)
    throw refusal(attributes, `can only access leases in the ${goQuote(LEASES)} system namespace`);
  if (writtenName(attributes) !== node)
    throw refusal(attributes, 'can only access node lease with the same name as the requesting node');
}

export function checkCsiNode(attributes: AdmissionAttributes, { node }: WritingNode): void {
  if (writtenName(attributes) !== node)
    throw refusal(attributes, 'can only access CSINode with the same name as the requesting node');
}

const writtenName = ({ operation, name, object }: AdmissionAttributes): string =>
  operation === 'CREATE' ? (object?.metadata.name ?? '') : name;

/** Other writes are the authorizer's, which knows the slices that are there, but neither new ones nor those of a collection. */
export function checkResourceSlice(attributes: AdmissionAttributes, { node }: WritingNode): void {
  if (!isWriteOf(attributes, RESOURCE_SLICES)) return;
  const { operation, object, old } = attributes;
  const nodeOf = (slice: ResourceSlice | undefined): string => slice?.spec?.nodeName ?? '';
  if (operation === 'CREATE' && nodeOf(object) !== node)
    throw refusal(attributes, 'can only create ResourceSlice with the same NodeName as the requesting node');
  if (operation === 'DELETE' && nodeOf(old) !== node)
    throw refusal(attributes, 'can only delete ResourceSlice with the same NodeName as the requesting node');
}

/** A node asks for certificates of its own name. What else is in a request is its signer's to check. */
export function checkCertificateRequest(attributes: AdmissionAttributes, { node }: WritingNode): void {
  if (attributes.operation !== 'CREATE' || !isWriteOf(attributes, SIGNING_REQUESTS)) return;
  const { signerName = '', request } = attributes.object?.spec ?? {};
  if (!NODE_SIGNERS.includes(signerName)) return;
  const wanted = `system:node:${node}`;
  if (commonNameOf(request ?? '', attributes) !== wanted)
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
