import { define } from '../define.ts';

export const volumeattachments = define({
  group: 'storage.k8s.io',
  resource: 'volumeattachments',
  kind: 'VolumeAttachment',
  namespaced: false,
  versions: [{ version: 'v1', type: 'storage/v1.VolumeAttachment' }],
  emptyStatus: {},
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    returnsDeletedObject: true,
  },
});
