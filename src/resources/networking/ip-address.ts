import { define } from '../define.ts';

export const ipaddresses = define({
  group: 'networking.k8s.io',
  resource: 'ipaddresses',
  kind: 'IPAddress',
  namespaced: false,
  shortNames: ['ip'],
  versions: [{ version: 'v1beta1', type: 'networking/v1beta1.IPAddress', enabledByDefault: false }],
  strategy: {
    nameRule: 'path-segment',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
  },
});
