import { EVENT_TABLE } from '../core/event-cells.ts';
import { EVENT_PATHS, EVENT_STRATEGY } from '../core/event-outline.ts';
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
  fields: {
    paths: EVENT_PATHS,
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
    ...EVENT_STRATEGY,
    validate: (event) => validateEvent(event, 'reportingController'),
    validateCreate: validateStrictEvent,
    validateUpdate: validateStrictEventUpdate,
  },
});
