import { define } from '../define.ts';
import { validatePolicyRules } from './validate-rules.ts';

export const roles = define({
  group: 'rbac.authorization.k8s.io',
  resource: 'roles',
  kind: 'Role',
  namespaced: true,
  versions: [{ version: 'v1', type: 'rbac/v1.Role' }],
  strategy: {
    nameRule: 'path-segment',
    tracksGeneration: false,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: true,
    validate: (role) => validatePolicyRules(role, 'namespace'),
  },
});
