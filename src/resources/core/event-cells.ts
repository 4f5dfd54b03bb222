import type { ApiObject } from '../../api/object-meta.ts';
import type { Cell } from '../../registry/definition.ts';
import { count, part, since, text } from '../cells.ts';
import { column, type Table } from '../define.ts';

function eventCells(event: ApiObject, now: number): readonly Cell[] {
  const series = part(event, 'series');
  const object = part(event, 'involvedObject');
  const source = part(event, 'source');
  const first = text(event.firstTimestamp, text(event.eventTime));
  const last = text(series.lastObservedTime, text(event.lastTimestamp, first));
  const host = text(source.host);
  return [
    since(last, now),
    text(event.type),
    text(event.reason),
    `${text(object.kind).toLowerCase()}/${text(object.name)}`,
    text(object.fieldPath),
    `${text(source.component, text(event.reportingComponent))}${host === '' ? '' : `, ${host}`}`,
    text(event.message).trim(),
    since(first, now),
    count(series.count) || count(event.count) || 1,
    event.metadata.name ?? '',
  ];
}

/** From the core form, which both Event APIs are stored in. */
export const EVENT_TABLE: Table = {
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
};
