import { column, define } from '../define.ts';
import { eventCells } from './event-cells.ts';

export const events = define({
  group: '',
  resource: 'events',
  kind: 'Event',
  namespaced: true,
  shortNames: ['ev'],
  versions: [{ version: 'v1', type: 'core/v1.Event' }],
  table: {
    columns: [
      column('Last Seen'),
      column('Type'),
      column('Reason'),
      column('Object'),
      column('Subobject', 1),
      column('Source', 1),
      column('Message'),
      column('First Seen', 1),
      column('Count', 1),
      column('Name', 1),
    ],
    cells: eventCells,
  },
  fields: {
    paths: {
      'involvedObject.kind': ['involvedObject.kind'],
      'involvedObject.namespace': ['involvedObject.namespace'],
      'involvedObject.name': ['involvedObject.name'],
      'involvedObject.uid': ['involvedObject.uid'],
      'involvedObject.apiVersion': ['involvedObject.apiVersion'],
      'involvedObject.resourceVersion': ['involvedObject.resourceVersion'],
      'involvedObject.fieldPath': ['involvedObject.fieldPath'],
      reason: ['reason'],
      reportingComponent: ['reportingComponent'],
      source: ['source.component', 'reportingComponent'],
      type: ['type'],
    },
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: true,
    defaultPropagation: 'unsupported',
    expires: true,
  },
});
