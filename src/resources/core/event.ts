import { define } from '../define.ts';
import { EVENT_TABLE } from './event-cells.ts';
import { validateEvent } from './validation/event.ts';

export const events = define({
  group: '',
  resource: 'events',
  kind: 'Event',
  namespaced: true,
  shortNames: ['ev'],
  versions: [{ version: 'v1', type: 'core/v1.Event' }],
  table: EVENT_TABLE,
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
    // Recorders of old put any name they liked.
    nameRule: 'path-segment',
    tracksGeneration: false,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: true,
    defaultPropagation: 'unsupported',
    expires: true,
    validate: (event) => validateEvent(event, 'reportingComponent'),
  },
});
