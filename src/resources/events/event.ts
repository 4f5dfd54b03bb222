import { EVENT_TABLE } from '../core/event-cells.ts';
import { validateEvent, validateStrictEvent, validateStrictEventUpdate } from '../core/validation/event.ts';
import { define } from '../define.ts';
import { eventV1 } from './event-conversion.ts';

export const eventsV1 = define({
  group: 'events.k8s.io',
  resource: 'events',
  kind: 'Event',
  namespaced: true,
  shortNames: ['ev'],
  versions: [{ version: 'v1', type: 'events/v1.Event', conversion: eventV1 }],
  storage: { group: '', resource: 'events', version: 'v1', type: 'core/v1.Event' },
  table: EVENT_TABLE,
  // Selected by as they are stored: in the core form.
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
      type: ['type'],
    },
    aliases: {
      'regarding.kind': 'involvedObject.kind',
      'regarding.namespace': 'involvedObject.namespace',
      'regarding.name': 'involvedObject.name',
      'regarding.uid': 'involvedObject.uid',
      'regarding.apiVersion': 'involvedObject.apiVersion',
      'regarding.resourceVersion': 'involvedObject.resourceVersion',
      'regarding.fieldPath': 'involvedObject.fieldPath',
      reportingController: 'reportingComponent',
    },
  },
  strategy: {
    // Events made through the core group may have such names; for new ones there is a stricter rule below.
    nameRule: 'path-segment',
    tracksGeneration: false,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: true,
    defaultPropagation: 'unsupported',
    expires: true,
    validate: (event) => validateEvent(event, 'reportingController'),
    validateCreate: validateStrictEvent,
    validateUpdate: validateStrictEventUpdate,
  },
});
