import { parseCertificationRequest } from '../../object/certification-request.ts';
import { part, text } from '../../object/parts.ts';
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
    if (!organizationsOf(text(request)).includes(MASTERS)) return;
    throw refusal(attributes, `use of ${CLIENT_SIGNER} signer with ${MASTERS} group is not allowed`);
  },
};

/** `request` is PEM in base64; that it can be read has been validated. */
const organizationsOf = (request: string): string[] =>
  parseCertificationRequest(Buffer.from(request, 'base64').toString()).subjectName.getField('O');
