import { define } from '../define.ts';

export const bindings = define({
  group: '',
  resource: 'bindings',
  kind: 'Binding',
  namespaced: true,
  verbs: ['create'],
  versions: [{ version: 'v1', type: 'core/v1.Binding' }],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
  },
});
