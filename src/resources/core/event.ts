import { define } from '../define.ts';
import { EVENT_TABLE } from './event-cells.ts';
import { EVENT_PATHS, EVENT_STRATEGY } from './event-outline.ts';
import { validateEvent } from './validation/event.ts';

export const events = define({
  group: '',
  resource: 'events',
  kind: 'Event',
  namespaced: true,
  shortNames: ['ev'],
  versions: [{ version: 'v1', type: 'core/v1.Event' }],
  table: EVENT_TABLE,
  fields: { paths: { ...EVENT_PATHS, source: ['source.component', 'reportingComponent'] } },
  strategy: { ...EVENT_STRATEGY, validate: (event) => validateEvent(event, 'reportingComponent') },
});
