import { toApiVersion } from '../api/names.ts';
import type { FlowClock } from './flow-control.ts';
import type { Level } from './levels.ts';
import type { Ticket } from './queueing/queue.ts';

/** Tables of the queues and their requests, with the columns of Kubernetes' debugging endpoints. */

type Row = readonly (string | number | boolean)[];

const LEVEL_COLUMNS =
  'PriorityLevelName ActiveQueues IsIdle IsQuiescing WaitingRequests ExecutingRequests DispatchedRequests ' +
  'RejectedRequests TimedoutRequests CancelledRequests';

/** The requests that a thread runs without a queue, by level. It can be sent to another thread. */
export interface RunningTurns {
  readonly level: string;
  readonly executing: number;
  readonly dispatched: number;
  /** As {@link dumpRequests} shows them. */
  readonly rows: readonly Row[];
}

export const runningTurns = (
  levels: ReadonlyMap<string, Level>,
  options: RequestDumpOptions,
): RunningTurns[] =>
  byName(levels).map(({ config, queues }) => {
    const { executing, dispatched } = queues.totals;
    const rows = [...queues.queueless].map((ticket) => toRow({ config, ticket, place: -1, ...options }));
    return { level: config.name, executing, dispatched, rows };
  });

/** `others`: what other threads run. */
export function dumpLevels(levels: ReadonlyMap<string, Level>, others: readonly RunningTurns[] = []): string {
  const rows = byName(levels).map(({ config, queues, retired }): Row => {
    const { waiting, rejected, timedOut, cancelled } = queues.totals;
    const all = [queues.totals, ...others.filter(({ level }) => level === config.name)];
    const executing = all.reduce((sum, one) => sum + one.executing, 0);
    const dispatched = all.reduce((sum, one) => sum + one.dispatched, 0);
    const active = queues.queues.filter((queue) => queue.waiting.size > 0).length;
    const state = [active, queues.isIdle, retired, waiting, executing];
    return [config.name, ...state, dispatched, rejected, timedOut, cancelled];
  });
  return toTable([LEVEL_COLUMNS.split(' '), ...rows]);
}

const QUEUE_COLUMNS =
  'PriorityLevelName Index PendingRequests ExecutingRequests SeatsInUse NextDispatchR InitialSeatsSum MaxSeatsSum ' +
  'TotalWorkSum';

export function dumpQueues(levels: ReadonlyMap<string, Level>): string {
  const rows = byName(levels).flatMap(({ config, queues }) =>
    queues.queues.map(({ index, waiting, executing, seatsInUse, nextStart, waitingWork }): Row => {
      const tickets = [...waiting];
      const initial = tickets.reduce((sum, { arrival }) => sum + arrival.work.initialSeats, 0);
      const most = tickets.reduce((sum, { seats }) => sum + seats, 0);
      const state = [index, waiting.size, executing.size, seatsInUse, toSeatSeconds(nextStart)];
      return [config.name, ...state, initial, most, toSeatSeconds(waitingWork)];
    }),
  );
  return toTable([QUEUE_COLUMNS.split(' '), ...rows]);
}

const REQUEST_COLUMNS =
  'PriorityLevelName FlowSchemaName QueueIndex RequestIndexInQueue FlowDistingsher ArriveTime InitialSeats FinalSeats ' +
  'AdditionalLatency StartTime';
const DETAIL_COLUMNS = 'UserName Verb APIPath Namespace Name APIVersion Resource SubResource';

interface RequestDumpOptions {
  readonly clock: FlowClock;
  /** Also shows user, verb and path of each request. */
  readonly details: boolean;
}

/** Running requests have the index -1 in their queue; those that passed no queue are in queue -1. */
export function dumpRequests(
  levels: ReadonlyMap<string, Level>,
  options: RequestDumpOptions,
  others: readonly RunningTurns[] = [],
): string {
  const columns = options.details ? `${REQUEST_COLUMNS} ${DETAIL_COLUMNS}` : REQUEST_COLUMNS;
  const rows = byName(levels).flatMap(({ config, queues }) => {
    const rowOf = (ticket: Ticket, place: number): Row => toRow({ config, ticket, place, ...options });
    const queued = queues.queues.flatMap(({ waiting, executing }) => [
      ...[...waiting].map((ticket, place) => rowOf(ticket, place)),
      ...[...executing].map((ticket) => rowOf(ticket, -1)),
    ]);
    const elsewhere = others.filter(({ level }) => level === config.name).flatMap(({ rows }) => rows);
    return [...queued, ...[...queues.queueless].map((ticket) => rowOf(ticket, -1)), ...elsewhere];
  });
  return toTable([columns.split(' '), ...rows]);
}

interface RowParts extends RequestDumpOptions {
  readonly config: Level['config'];
  readonly ticket: Ticket;
  /** The place in its queue. */
  readonly place: number;
}

const toRow = ({ config, ticket, place, clock, details }: RowParts): Row => [
  config.name,
  ticket.arrival.schema,
  ticket.queue?.index ?? -1,
  place,
  ...stateOf(ticket, clock),
  ...(details ? detailsOf(ticket) : []),
];

function stateOf({ arrival, arrivedAt, startedAt, finalSeats, extraMs }: Ticket, clock: FlowClock): Row {
  const started = startedAt === undefined ? '0001-01-01T00:00:00Z' : clock.toDate(startedAt).toISOString();
  const arrived = clock.toDate(arrivedAt).toISOString();
  const latency = extraMs === 0 ? '0s' : `${extraMs}ms`;
  return [arrival.distinguisher, arrived, arrival.work.initialSeats, finalSeats, latency, started];
}

function detailsOf({ arrival }: Ticket): Row {
  const { user, verb, path, target } = arrival.request;
  const {
    namespace = '',
    name = '',
    group = '',
    version = '',
    resource = '',
    subresource = '',
  } = target ?? {};
  const apiVersion = toApiVersion({ group, version });
  return [user.username, verb, path, namespace, name, apiVersion, resource, subresource];
}

const byName = (levels: ReadonlyMap<string, Level>): Level[] =>
  [...levels.values()].sort((a, b) => (a.config.name < b.config.name ? -1 : 1));

/** As Go prints them: eight decimal places. */
const toSeatSeconds = (work: number): string => `${Math.max(work, 0).toFixed(8)}ss`;

const LEAST_WIDTH = 8;

/** Cells end with a comma and are padded to the width of their column, except the last of a row. */
function toTable(rows: readonly Row[]): string {
  const cells = rows.map((row) =>
    row.map((cell, at) => (at === row.length - 1 ? clean(cell) : `${clean(cell)},`)),
  );
  const widths = (cells[0] ?? []).map((_, at) =>
    Math.max(LEAST_WIDTH, ...cells.map((row) => (row[at] ?? '').length + 1)),
  );
  const lines = cells.map((row) =>
    row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join(''),
  );
  return `${lines.join('\n')}\n`;
}

/** Text from callers must not look like another row. */
const clean = (cell: string | number | boolean): string => String(cell).replace(/\p{Cc}/gu, '?');
