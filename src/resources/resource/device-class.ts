import { define } from '../define.ts';

export const deviceclasses = define({
  group: 'resource.k8s.io',
  resource: 'deviceclasses',
  kind: 'DeviceClass',
  namespaced: false,
  versions: [{ version: 'v1alpha3', type: 'resource/v1alpha3.DeviceClass', enabledByDefault: false }],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
  },
});
