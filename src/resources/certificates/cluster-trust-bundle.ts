import { define } from '../define.ts';

export const clustertrustbundles = define({
  group: 'certificates.k8s.io',
  resource: 'clustertrustbundles',
  kind: 'ClusterTrustBundle',
  namespaced: false,
  versions: [
    { version: 'v1alpha1', type: 'certificates/v1alpha1.ClusterTrustBundle', enabledByDefault: false },
  ],
  fields: {
    paths: {
      'spec.signerName': ['spec.signerName'],
    },
  },
  strategy: {
    nameRule: 'path-segment',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
  },
});
