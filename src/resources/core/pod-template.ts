import { define } from '../define.ts';
import { defaultPodTemplate } from '../pod/pod-defaults.ts';

export const podtemplates = define({
  group: '',
  resource: 'podtemplates',
  kind: 'PodTemplate',
  namespaced: true,
  versions: [{ version: 'v1', type: 'core/v1.PodTemplate' }],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
    defaults: defaultPodTemplate,
  },
});
