import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { count, part, text } from '../../object/parts.ts';
import type { Cell } from '../../registry/definition.ts';
import { since } from '../cells.ts';
import { column, nameColumn, type Table } from '../define.ts';

function eventCells(event: ApiObject, now: number): readonly Cell[] {
  const { kind, name, fieldPath } = part(event, 'involvedObject');
  const first = text(event.firstTimestamp, text(event.eventTime));
  const target = [text(kind).toLowerCase(), text(name)].filter((one, at) => at === 0 || one !== '');
  return [
    since(lastSeen(event, first), now),
    text(event.type),
    text(event.reason),
    target.join('/'),
    text(fieldPath),
    sourceText(event, part(event, 'source')),
    text(event.message).trim(),
    since(first, now),
    repetitions(event),
    event.metadata.name ?? '',
  ];
}

function lastSeen(event: ApiObject, first: string): string {
  return event.series === undefined
    ? text(event.lastTimestamp, first)
    : text(part(event, 'series').lastObservedTime);
}

/** An event of the new API that did not repeat has no count. */
function repetitions(event: ApiObject): number {
  return event.series === undefined ? count(event.count) || 1 : count(part(event, 'series').count);
}

function sourceText(event: ApiObject, source: JsonObject): string {
  const reporter = text(source.component, text(event.reportingComponent));
  const instance = text(source.host, text(event.reportingInstance));
  return instance === '' ? reporter : `${reporter}, ${instance}`;
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
    { ...nameColumn(), priority: 1 },
  ],
  cells: eventCells,
};
