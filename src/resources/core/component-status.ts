import { define } from '../define.ts';

export const componentstatuses = define({
  group: '',
  resource: 'componentstatuses',
  kind: 'ComponentStatus',
  namespaced: false,
  shortNames: ['cs'],
  verbs: ['get', 'list'],
  versions: [{ version: 'v1', type: 'core/v1.ComponentStatus' }],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
  },
});
