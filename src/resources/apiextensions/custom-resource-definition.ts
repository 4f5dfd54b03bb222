import { define } from '../define.ts';

export const customresourcedefinitions = define({
  group: 'apiextensions.k8s.io',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  versions: [{ version: 'v1', type: 'apiextensions/v1.CustomResourceDefinition' }],
  emptyStatus: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: null },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
  },
});
