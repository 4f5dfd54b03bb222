import { define } from '../define.ts';

export const resourcequotas = define({
  group: '',
  resource: 'resourcequotas',
  kind: 'ResourceQuota',
  namespaced: true,
  shortNames: ['quota'],
  versions: [{ version: 'v1', type: 'core/v1.ResourceQuota' }],
  emptyStatus: {},
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
  },
});
