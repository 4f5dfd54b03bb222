import { part, text } from '../../object/parts.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { validateSlice, validateSliceUpdate } from './validate-slice.ts';

export const resourceslices = define({
  group: 'resource.k8s.io',
  resource: 'resourceslices',
  kind: 'ResourceSlice',
  namespaced: false,
  versions: [{ version: 'v1alpha3', type: 'resource/v1alpha3.ResourceSlice', enabledByDefault: false }],
  fields: {
    paths: {
      'spec.nodeName': ['spec.nodeName'],
      'spec.driver': ['spec.driver'],
    },
  },
  table: {
    columns: [nameColumn(), column('Node'), column('Driver'), column('Pool'), column('Age')],
    cells: (slice, now) => {
      const spec = part(slice, 'spec');
      return [
        slice.metadata.name ?? '',
        text(spec.nodeName),
        text(spec.driver),
        text(part(spec, 'pool').name),
        age(slice, now),
      ];
    },
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
    validate: validateSlice,
    validateUpdate: validateSliceUpdate,
  },
});
