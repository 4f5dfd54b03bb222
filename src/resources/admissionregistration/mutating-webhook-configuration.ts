import { define } from '../define.ts';

export const mutatingwebhookconfigurations = define({
  group: 'admissionregistration.k8s.io',
  resource: 'mutatingwebhookconfigurations',
  kind: 'MutatingWebhookConfiguration',
  namespaced: false,
  categories: ['api-extensions'],
  versions: [{ version: 'v1', type: 'admissionregistration/v1.MutatingWebhookConfiguration' }],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
  },
});
