import { define } from '../define.ts';
import { selectorRatchet } from '../validation/ratchet.ts';
import { validateAggregation } from './aggregation.ts';
import { validatePolicyRules } from './validate-rules.ts';

export const clusterroles = define({
  group: 'rbac.authorization.k8s.io',
  resource: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
  versions: [{ version: 'v1', type: 'rbac/v1.ClusterRole' }],
  ratchets: [selectorRatchet('aggregationRule\\..*')],
  strategy: {
    nameRule: 'path-segment',
    tracksGeneration: false,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: true,
    validate: (role) => [...validatePolicyRules(role, 'cluster'), ...validateAggregation(role)],
  },
});
