import { define } from '../define.ts';

export const servicecidrs = define({
  group: 'networking.k8s.io',
  resource: 'servicecidrs',
  kind: 'ServiceCIDR',
  namespaced: false,
  versions: [{ version: 'v1beta1', type: 'networking/v1beta1.ServiceCIDR', enabledByDefault: false }],
  emptyStatus: {},
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
  },
});
