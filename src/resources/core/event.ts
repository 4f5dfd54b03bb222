import type { Event } from '../../api/types/core/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkName, checkQualifiedName } from '../../object/text-formats.ts';
import type { Strategy } from '../../registry/strategy.ts';
import { since } from '../cells.ts';
import { column, define, type FieldOutline, nameColumn, type Table } from '../define.ts';
import { checked } from '../rules/checked.ts';

/** Events of both groups are the same objects, in this form: this table, these fields and rules apply to events.k8s.io too. */

export const EVENT_TABLE: Table<Event> = {
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
    { ...nameColumn(), priority: 1 },
  ],
  cells: (event, now) => {
    const { involvedObject: { kind = '', name = '', fieldPath = '' } = {}, series } = event;
    const first = event.firstTimestamp || event.eventTime || '';
    return [
      since(series === undefined ? event.lastTimestamp || first : (series.lastObservedTime ?? ''), now),
      event.type ?? '',
      event.reason ?? '',
      name === '' ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`,
      fieldPath,
      sourceText(event),
      (event.message ?? '').trim(),
      since(first, now),
      // An event of the new API that did not repeat has no count.
      series === undefined ? event.count || 1 : (series.count ?? 0),
      event.metadata.name ?? '',
    ];
  },
};

function sourceText({ source = {}, reportingComponent, reportingInstance }: Event): string {
  const reporter = source.component || reportingComponent || '';
  const instance = source.host || reportingInstance || '';
  return instance === '' ? reporter : `${reporter}, ${instance}`;
}

export const EVENT_PATHS: FieldOutline['paths'] = {
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
};

/** `controllerField`: the name of the reporting controller in the request's API. */
export const eventStrategy = (
  controllerField: 'reportingComponent' | 'reportingController',
): Partial<Strategy<Event>> => ({
  // Recorders of old put any name they liked; for new events of events.k8s.io there is a stricter rule.
  nameRule: 'path-segment',
  finalizersNeedDomains: false,
  allowCreateOnUpdate: true,
  defaultPropagation: 'unsupported',
  expires: true,
  validate: checked((at, event) => validate(at, event, controllerField)),
});

export const events = define<Event>({
  group: '',
  resource: 'events',
  kind: 'Event',
  namespaced: true,
  shortNames: ['ev'],
  versions: [{ version: 'v1', type: 'core/v1.Event' }],
  table: EVENT_TABLE,
  fields: { paths: { ...EVENT_PATHS, source: ['source.component', 'reportingComponent'] } },
  strategy: eventStrategy('reportingComponent'),
});

/** Events of the new API, sent through either group, must name the reporter and the action. */
export const isNewStyle = ({ eventTime }: Event): boolean => (eventTime ?? '') !== '';

function validate(at: FieldPath, event: Event, controllerField: string): void {
  const { namespace = '' } = event.metadata;
  validateNamespace(at.field('involvedObject').field('namespace'), event);
  if (isNewStyle(event)) validateReport(at, event, controllerField);
  at.field('namespace').invalidFor(namespace, checkName(namespace, 'dns-subdomain'));
}

/** An event is where its object is. Events of objects without a namespace are in `default`, new ones also in `kube-system`. */
function validateNamespace(at: FieldPath, event: Event): void {
  const { namespace = '' } = event.metadata;
  const about = event.involvedObject?.namespace ?? '';
  const isNew = isNewStyle(event);
  const homes = isNew ? ['default', 'kube-system'] : ['', 'default'];
  const isAtHome = about === '' ? homes.includes(namespace) : isNew || about === namespace;
  if (!isAtHome) at.invalid(about, 'does not match event.namespace');
}

const MAX_TEXT_BYTES = 128;
const MAX_NOTE_BYTES = 1024;

function validateReport(at: FieldPath, event: Event, controllerField: string): void {
  const { reportingComponent: controller = '', message = '' } = event;
  if (controller === '') at.field(controllerField).required();
  at.field(controllerField).invalidFor(controller, checkQualifiedName(controller));
  for (const field of ['reportingInstance', 'action', 'reason'] as const) {
    const { [field]: text = '' } = event;
    if (text === '') at.field(field).required();
    else mustBeShort(at.field(field), text, MAX_TEXT_BYTES);
  }
  mustBeShort(at.field('message'), message, MAX_NOTE_BYTES);
}

function mustBeShort(at: FieldPath, text: string, most: number): void {
  if (Buffer.byteLength(text) > most) at.invalid('', `can have at most ${most} characters`);
}
