import { part, parts } from '../../object/parts.ts';
import { age, selectorText } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { selectorRatchet } from '../validation/ratchet.ts';
import { validateNetworkPolicy } from './validation/network-policy.ts';

export const networkpolicies = define({
  group: 'networking.k8s.io',
  resource: 'networkpolicies',
  kind: 'NetworkPolicy',
  namespaced: true,
  shortNames: ['netpol'],
  versions: [{ version: 'v1', type: 'networking/v1.NetworkPolicy' }],
  table: {
    columns: [nameColumn(), column('Pod-Selector'), column('Age')],
    cells: (policy, now) => [
      policy.metadata.name ?? '',
      selectorText(part(policy, 'spec', 'podSelector')),
      age(policy, now),
    ],
  },
  ratchets: [selectorRatchet('spec\\..*')],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    defaults: (policy) => {
      const spec = part(policy, 'spec');
      if (Array.isArray(spec.policyTypes) && spec.policyTypes.length > 0) return;
      spec.policyTypes = parts(spec, 'egress').length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
    },
    validate: validateNetworkPolicy,
  },
});
