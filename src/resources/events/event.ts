import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { Event, EventSeries } from '../../api/types/core/v1.ts';
import { equal } from '../../object/equality.ts';
import type { FieldPath } from '../../object/field-path.ts';
import type { Conversion } from '../../registry/resource-definition.ts';
import { EVENT_PATHS, EVENT_TABLE, eventStrategy, isNewStyle } from '../core/event.ts';
import { define } from '../define.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { goEventSource, goObjectReference } from '../rules/go-structs.ts';
import { mustNotChange } from '../rules/immutable.ts';
import { mustBeName } from '../rules/name-rules.ts';

/** Fields of the core Event with their names in events.k8s.io/v1. Other fields have the same name in both. */
const RENAMED: readonly (readonly [core: string, v1: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];
const TO_V1: ReadonlyMap<string, string> = new Map(RENAMED);
const TO_CORE: ReadonlyMap<string, string> = new Map(RENAMED.map(([core, v1]) => [v1, core]));

/** Fields that each form writes even when they are absent. */
const CORE_ALWAYS: JsonObject = {
  involvedObject: {},
  source: {},
  firstTimestamp: null,
  lastTimestamp: null,
  eventTime: null,
  reportingComponent: '',
  reportingInstance: '',
};
const V1_ALWAYS: JsonObject = {
  eventTime: null,
  regarding: {},
  deprecatedSource: {},
  deprecatedFirstTimestamp: null,
  deprecatedLastTimestamp: null,
};

/** events.k8s.io/v1 on the storage of core events. */
const eventV1: Conversion = {
  toStorage: (event) => rename(event, 'v1', TO_CORE, CORE_ALWAYS),
  fromStorage: (event) => rename(event, 'events.k8s.io/v1', TO_V1, V1_ALWAYS),
};

function rename(
  event: ApiObject,
  apiVersion: string,
  names: ReadonlyMap<string, string>,
  always: JsonObject,
): ApiObject {
  const { kind, apiVersion: _, metadata, ...rest } = event;
  const out: JsonObject = { ...always };
  for (const [name, value] of Object.entries(rest)) out[names.get(name) ?? name] = value;
  return { kind, apiVersion, metadata, ...out };
}

export const eventsV1 = define<Event>({
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
    ...eventStrategy('reportingController'),
    validateCreate: checked(validateNew),
    validateUpdate: checkedUpdate(validateUpdate),
  },
});

/** Rules of this group for a new event, besides those of all events. They judge the stored form. */
function validateNew(at: FieldPath, event: Event): void {
  const { type = '', source = {}, series } = event;
  const { name = '' } = event.metadata;
  const refuse = (field: string): void => at.field(field).invalid('', 'needs to be unset');
  if (name !== '') mustBeName(at.field('metadata').field('name'), name, 'dns-subdomain');
  if (series !== undefined) validateSeries(at.field('series'), series);
  if (!isNewStyle(event)) at.field('eventTime').required();
  if (type !== 'Normal' && type !== 'Warning') at.field('type').invalid('', `has invalid value: ${type}`);
  for (const field of ['firstTimestamp', 'lastTimestamp'] as const)
    if ((event[field] ?? '') !== '') refuse(field);
  if ((event.count ?? 0) !== 0) refuse('count');
  if ((source.component ?? '') !== '' || (source.host ?? '') !== '') refuse('source');
}

const KEPT = ['firstTimestamp', 'lastTimestamp', 'count', 'type', 'eventTime', 'action'] as const;

/** Only the series, which counts repetitions, and metadata may change through this group. */
function validateUpdate(at: FieldPath, event: Event, old: Event): void {
  const { series } = event;
  if (series !== undefined && !equal(series, old.series)) validateSeries(at.field('series'), series);
  mustNotChange(at.field('involvedObject'), event.involvedObject, old.involvedObject, goObjectReference);
  for (const field of ['reason', 'message'] as const)
    mustNotChange(at.field(field), event[field], old[field]);
  mustNotChange(at.field('source'), event.source, old.source, goEventSource);
  for (const field of KEPT) mustNotChange(at.field(field), event[field], old[field]);
  mustNotChange(at.field('related'), event.related, old.related, goObjectReference);
  mustNotChange(at.field('reportingInstance'), event.reportingInstance, old.reportingInstance);
  mustNotChange(at.field('reportingController'), event.reportingComponent, old.reportingComponent);
}

function validateSeries(at: FieldPath, { count = 0, lastObservedTime }: EventSeries): void {
  if (count < 2) at.field('count').invalid('', 'should be at least 2');
  if ((lastObservedTime ?? '') === '') at.field('lastObservedTime').required();
}
