import { readCertificationRequest } from '../../x509/certification-request.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { describePlugin } from '../plugin.ts';
import { refusal } from '../refusal.ts';
import { SIGNING_REQUESTS } from '../resources.ts';
import { isWriteOf } from '../write-of.ts';

const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';
const MASTERS = 'system:masters';

/** Nobody becomes a master of the cluster by a request for a certificate (Kubernetes: certificates/subjectrestriction). */
export const certificateSubject: AdmissionPlugin = {
  name: 'CertificateSubjectRestriction',
  operations: ['CREATE'],
  validate: (attributes) => {
    if (!isWriteOf(attributes, SIGNING_REQUESTS)) return;
    const { signerName, request = '' } = attributes.object?.spec ?? {};
    if (signerName !== CLIENT_SIGNER) return;
    // That it can be read has been validated.
    const { subject } = readCertificationRequest(request ?? '');
    if (!subject.organizations.includes(MASTERS)) return;
    throw refusal(attributes, `use of ${CLIENT_SIGNER} signer with ${MASTERS} group is not allowed`);
  },
};

export const certificateSubjectRestriction = describePlugin({
  name: 'CertificateSubjectRestriction',
  isDefault: true,
  create: () => certificateSubject,
});
