import { define } from '../define.ts';

export const runtimeclasses = define({
  group: 'node.k8s.io',
  resource: 'runtimeclasses',
  kind: 'RuntimeClass',
  namespaced: false,
  versions: [{ version: 'v1', type: 'node/v1.RuntimeClass' }],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: false,
  },
});
