import { part, parts } from '../cells.ts';
import { define } from '../define.ts';

export const networkpolicies = define({
  group: 'networking.k8s.io',
  resource: 'networkpolicies',
  kind: 'NetworkPolicy',
  namespaced: true,
  shortNames: ['netpol'],
  versions: [{ version: 'v1', type: 'networking/v1.NetworkPolicy' }],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    defaults: (policy) => {
      const spec = part(policy, 'spec');
      if (parts(spec, 'policyTypes').length > 0) return;
      spec.policyTypes = parts(spec, 'egress').length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
    },
  },
});
