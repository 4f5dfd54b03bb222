import { define } from '../define.ts';

export const limitranges = define({
  group: '',
  resource: 'limitranges',
  kind: 'LimitRange',
  namespaced: true,
  shortNames: ['limits'],
  versions: [{ version: 'v1', type: 'core/v1.LimitRange' }],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: true,
  },
});
