import { define } from '../define.ts';

export const controllerrevisions = define({
  group: 'apps',
  resource: 'controllerrevisions',
  kind: 'ControllerRevision',
  namespaced: true,
  versions: [{ version: 'v1', type: 'apps/v1.ControllerRevision' }],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
  },
});
