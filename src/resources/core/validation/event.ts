import type { ApiObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { equal } from '../../../object/equality.ts';
import { eachInvalid, invalidValue, required } from '../../../object/field-errors.ts';
import { checkName, checkQualifiedName } from '../../../object/formats.ts';
import { count, part, text } from '../../../object/parts.ts';
import { goObjectReference } from '../../validation/go-structs.ts';
import { validateImmutableField } from '../../validation/immutable.ts';

/**
 * Events have two sets of rules. An event with an eventTime is one of the new API, whichever group it came through, and must say
 * who reports what. Strictness beyond that is only for writes through events.k8s.io/v1. All of it speaks of the stored form.
 */

const MAX_TEXT_BYTES = 128;
const MAX_NOTE_BYTES = 1024;

/** `controllerField` is what the API of the request calls the reporting controller. */
export function validateEvent(
  event: ApiObject,
  controllerField: 'reportingComponent' | 'reportingController',
): FieldError[] {
  const namespace = event.metadata.namespace ?? '';
  return [
    ...validateNamespace(event, namespace),
    ...(isNewStyle(event) ? validateReport(event, controllerField) : []),
    ...eachInvalid('namespace', namespace, checkName(namespace, 'dns-subdomain')),
  ];
}

const isNewStyle = ({ eventTime }: ApiObject): boolean => text(eventTime) !== '';

/** An event is where its object is. Events of objects without a namespace are in `default`, new ones also in `kube-system`. */
function validateNamespace(event: ApiObject, namespace: string): FieldError[] {
  const about = text(part(event, 'involvedObject').namespace);
  const homes = isNewStyle(event) ? ['default', 'kube-system'] : ['', 'default'];
  const matches = about === '' ? homes.includes(namespace) : isNewStyle(event) || about === namespace;
  if (matches) return [];
  return [invalidValue('involvedObject.namespace', about, 'does not match event.namespace')];
}

function validateReport(event: ApiObject, controllerField: string): FieldError[] {
  const controller = text(event.reportingComponent);
  return [
    ...(controller === '' ? [required(controllerField)] : []),
    ...eachInvalid(controllerField, controller, checkQualifiedName(controller)),
    ...['reportingInstance', 'action', 'reason'].flatMap((field) =>
      text(event[field]) === '' ? [required(field)] : validateLength(event, field, MAX_TEXT_BYTES),
    ),
    ...validateLength(event, 'message', MAX_NOTE_BYTES),
  ];
}

function validateLength(event: ApiObject, field: string, most: number): FieldError[] {
  if (Buffer.byteLength(text(event[field])) <= most) return [];
  return [invalidValue(field, '', `can have at most ${most} characters`)];
}

/** What events.k8s.io/v1 asks of a new event. */
export function validateStrictEvent(event: ApiObject): FieldError[] {
  const { name = '' } = event.metadata;
  const type = text(event.type);
  const { component, host } = part(event, 'source');
  const unset = (field: string): FieldError => invalidValue(field, '', 'needs to be unset');
  return [
    ...eachInvalid('metadata.name', name, name === '' ? [] : checkName(name, 'dns-subdomain')),
    ...validateSeries(event),
    ...(isNewStyle(event) ? [] : [required('eventTime')]),
    ...(type === 'Normal' || type === 'Warning'
      ? []
      : [invalidValue('type', '', `has invalid value: ${type}`)]),
    ...['firstTimestamp', 'lastTimestamp'].filter((field) => text(event[field]) !== '').map(unset),
    ...(count(event.count) === 0 ? [] : [unset('count')]),
    ...(text(component) === '' && text(host) === '' ? [] : [unset('source')]),
  ];
}

/** Only the series, which counts repetitions, and metadata may change through events.k8s.io/v1. */
const IMMUTABLE = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingInstance',
];

export function validateStrictEventUpdate(event: ApiObject, old: ApiObject): FieldError[] {
  return [
    ...(equal(event.series ?? null, old.series ?? null) ? [] : validateSeries(event)),
    ...IMMUTABLE.flatMap((field) =>
      validateImmutableField(field, event[field], old[field], goObjectReference),
    ),
    ...validateImmutableField('reportingController', event.reportingComponent, old.reportingComponent),
  ];
}

function validateSeries(event: ApiObject): FieldError[] {
  if (event.series === undefined) return [];
  const series = part(event, 'series');
  const errors: FieldError[] = [];
  if (count(series.count) < 2) errors.push(invalidValue('series.count', '', 'should be at least 2'));
  if (text(series.lastObservedTime) === '') errors.push(required('series.lastObservedTime'));
  return errors;
}
