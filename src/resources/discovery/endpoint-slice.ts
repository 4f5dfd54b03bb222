import type { ApiObject } from '../../api/object-meta.ts';
import { equal } from '../../object/equality.ts';
import { nextGeneration } from '../../object/generation.ts';
import { parts } from '../../object/parts.ts';
import { column, define, nameColumn } from '../define.ts';
import { endpointSliceCells } from './endpoint-slice-cells.ts';
import { validateEndpointSlice, validateEndpointSliceUpdate } from './validate-endpoint-slice.ts';

export const endpointslices = define({
  group: 'discovery.k8s.io',
  resource: 'endpointslices',
  kind: 'EndpointSlice',
  namespaced: true,
  versions: [{ version: 'v1', type: 'discovery/v1.EndpointSlice' }],
  table: {
    columns: [nameColumn(), column('AddressType'), column('Ports'), column('Endpoints'), column('Age')],
    cells: endpointSliceCells,
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    prepareForCreate: dropTopology,
    prepareForUpdate: (slice, old) => {
      // Labels say which service a slice belongs to, so a change of them is a change of the slice.
      if (!equal(slice.metadata.labels ?? {}, old.metadata.labels ?? {})) {
        slice.metadata.generation = nextGeneration(old.metadata);
      }
      dropTopology(slice);
    },
    validate: validateEndpointSlice,
    validateUpdate: validateEndpointSliceUpdate,
    warnings: (slice, old) =>
      old === undefined && slice.addressType === 'FQDN'
        ? ['spec.addressType: FQDN endpoints are deprecated']
        : [],
  },
});

/** A field of v1beta1, which v1 only shows: nodeName and zone took its place. */
function dropTopology(slice: ApiObject): void {
  for (const endpoint of parts(slice, 'endpoints')) delete endpoint.deprecatedTopology;
}
