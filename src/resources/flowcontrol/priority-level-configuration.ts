import { define } from '../define.ts';

export const prioritylevelconfigurations = define({
  group: 'flowcontrol.apiserver.k8s.io',
  resource: 'prioritylevelconfigurations',
  kind: 'PriorityLevelConfiguration',
  namespaced: false,
  versions: [
    { version: 'v1', type: 'flowcontrol/v1.PriorityLevelConfiguration' },
    { version: 'v1beta3', type: 'flowcontrol/v1beta3.PriorityLevelConfiguration' },
  ],
  emptyStatus: {},
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
  },
});
