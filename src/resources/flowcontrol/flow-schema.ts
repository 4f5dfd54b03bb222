import { define } from '../define.ts';

export const flowschemas = define({
  group: 'flowcontrol.apiserver.k8s.io',
  resource: 'flowschemas',
  kind: 'FlowSchema',
  namespaced: false,
  versions: [
    { version: 'v1', type: 'flowcontrol/v1.FlowSchema' },
    { version: 'v1beta3', type: 'flowcontrol/v1beta3.FlowSchema' },
  ],
  emptyStatus: {},
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
  },
});
