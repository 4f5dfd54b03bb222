import { define } from '../define.ts';

export const ingressclasses = define({
  group: 'networking.k8s.io',
  resource: 'ingressclasses',
  kind: 'IngressClass',
  namespaced: false,
  versions: [{ version: 'v1', type: 'networking/v1.IngressClass' }],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
  },
});
