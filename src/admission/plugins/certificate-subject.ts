import { part, text } from '../../object/parts.ts';
import { readCertificationRequest } from '../../x509/certification-request.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { refusal } from '../refusal.ts';

const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';
const MASTERS = 'system:masters';

/** Nobody becomes a master of the cluster by a request for a certificate (Kubernetes: certificates/subjectrestriction). */
export const certificateSubject: AdmissionPlugin = {
  name: 'CertificateSubjectRestriction',
  operations: ['CREATE'],
  validate: (attributes) => {
    const { definition, subresource, object } = attributes;
    if (definition.resource !== 'certificatesigningrequests' || subresource !== '') return;
    const { signerName, request } = part(object, 'spec');
    if (definition.group !== 'certificates.k8s.io' || signerName !== CLIENT_SIGNER) return;
    // That it can be read has been validated.
    const { subject } = readCertificationRequest(text(request));
    if (!subject.organizations.includes(MASTERS)) return;
    throw refusal(attributes, `use of ${CLIENT_SIGNER} signer with ${MASTERS} group is not allowed`);
  },
};
