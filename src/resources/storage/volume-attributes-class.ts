import { define } from '../define.ts';

export const volumeattributesclasses = define({
  group: 'storage.k8s.io',
  resource: 'volumeattributesclasses',
  kind: 'VolumeAttributesClass',
  namespaced: false,
  shortNames: ['vac'],
  versions: [
    { version: 'v1beta1', type: 'storage/v1beta1.VolumeAttributesClass', enabledByDefault: false },
    { version: 'v1alpha1', type: 'storage/v1alpha1.VolumeAttributesClass', enabledByDefault: false },
  ],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
  },
});
