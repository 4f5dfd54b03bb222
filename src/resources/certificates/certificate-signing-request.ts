import { define } from '../define.ts';
import { approval } from './approval.ts';

export const certificatesigningrequests = define({
  group: 'certificates.k8s.io',
  resource: 'certificatesigningrequests',
  kind: 'CertificateSigningRequest',
  namespaced: false,
  shortNames: ['csr'],
  versions: [{ version: 'v1', type: 'certificates/v1.CertificateSigningRequest' }],
  emptyStatus: {},
  subresources: [approval],
  fields: {
    paths: {
      'spec.signerName': ['spec.signerName'],
    },
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
  },
});
