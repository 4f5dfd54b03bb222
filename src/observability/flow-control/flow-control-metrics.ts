import type { Registry } from 'prom-client';
import {
  type FamilyInit,
  type HistogramState,
  histogramValues,
  type Labels,
  registerFamily,
} from '../tallies.ts';
import { FlowTallies, LevelTallies } from './flow-tallies.ts';

const PREFIX = 'apiserver_flowcontrol_';

/** The apiserver_flowcontrol_ metrics, with the names and labels that Kubernetes' dashboards use. */
export class FlowControlMetrics {
  readonly #flows = new Map<string, FlowTallies>();
  readonly #levels = new Map<string, LevelTallies>();
  readonly #now: () => number;
  #fairFraction = 0;

  /** `now`: the clock of usage, in milliseconds. */
  constructor(registry: Registry, now: () => number) {
    this.#now = now;
    for (const family of this.#families()) registerFamily(registry, family);
  }

  flow(level: string, schema: string): FlowTallies {
    const key = `${level}/${schema}`;
    let flow = this.#flows.get(key);
    if (flow === undefined) {
      flow = new FlowTallies(level, schema);
      this.#flows.set(key, flow);
    }
    return flow;
  }

  level(name: string): LevelTallies {
    let level = this.#levels.get(name);
    if (level === undefined) {
      level = new LevelTallies(name);
      this.#levels.set(name, level);
    }
    return level;
  }

  fairFraction(fraction: number): void {
    this.#fairFraction = fraction;
  }

  *#families(): Generator<FamilyInit> {
    const flows = (): Iterable<FlowTallies> => this.#flows.values();
    for (const { type, name, help, read } of FLOW_NUMBERS) yield ofNumbers({ type, name, help }, flows, read);
    for (const { name, help, read } of FLOW_HISTOGRAMS) yield ofHistograms({ name, help }, flows, read);
    const levels = (): Iterable<LevelTallies> => this.#levels.values();
    for (const { name, help, read } of LEVEL_NUMBERS)
      yield ofNumbers({ type: 'gauge', name, help }, levels, read);
    for (const { name, help, read } of LEVEL_HISTOGRAMS)
      yield ofHistograms({ name, help }, () => this.#settled(), read);
    yield {
      type: 'gauge',
      name: `${PREFIX}seat_fair_frac`,
      help: 'Part of its target that every priority level gets which is bound by no limit of its own.',
      values: () => [{ labels: {}, value: this.#fairFraction }],
    };
  }

  *#settled(): Generator<LevelTallies> {
    for (const level of this.#levels.values()) {
      level.settle(this.#now());
      yield level;
    }
  }
}

type Described = Pick<FamilyInit, 'name' | 'help'>;
type Reading<Value> = readonly (readonly [labels: Labels, value: Value])[];

/** Reads the values that one tally adds to a family. */
interface Reader<Tally, Value> extends Described {
  readonly read: (tally: Tally) => Reading<Value>;
}

function ofNumbers<Tally extends { readonly labels: Labels }>(
  { type, name, help }: Pick<FamilyInit, 'type' | 'name' | 'help'>,
  tallies: () => Iterable<Tally>,
  read: (tally: Tally) => Reading<number>,
): FamilyInit {
  return {
    type,
    name: `${PREFIX}${name}`,
    help,
    values: function* () {
      for (const tally of tallies())
        for (const [labels, value] of read(tally)) yield { labels: { ...tally.labels, ...labels }, value };
    },
  };
}

function ofHistograms<Tally extends { readonly labels: Labels }>(
  { name, help }: Described,
  tallies: () => Iterable<Tally>,
  read: (tally: Tally) => Reading<HistogramState>,
): FamilyInit {
  return {
    type: 'histogram',
    name: `${PREFIX}${name}`,
    help,
    values: function* () {
      for (const tally of tallies())
        for (const [labels, state] of read(tally))
          yield* histogramValues(`${PREFIX}${name}`, { ...tally.labels, ...labels }, state);
    },
  };
}

const one = <Value>(value: Value): Reading<Value> => [[{}, value]];

const FLOW_NUMBERS: readonly (Reader<FlowTallies, number> & { readonly type: 'counter' | 'gauge' })[] = [
  {
    type: 'counter',
    name: 'rejected_requests_total',
    help: 'Requests that were refused, by reason.',
    read: ({ rejections }) => [...rejections].map(([reason, count]) => [{ reason }, count]),
  },
  {
    type: 'counter',
    name: 'dispatched_requests_total',
    help: 'Requests that were let through.',
    read: ({ dispatches }) => one(dispatches),
  },
  {
    type: 'counter',
    name: 'request_dispatch_no_accommodation_total',
    help: 'Attempts at a dispatch for which there were too few free seats.',
    read: ({ unaccommodated }) => one(unaccommodated),
  },
  {
    type: 'gauge',
    name: 'current_inqueue_requests',
    help: 'Requests waiting in queues.',
    read: ({ requestsInQueues }) => one(requestsInQueues),
  },
  {
    type: 'gauge',
    name: 'current_inqueue_seats',
    help: 'Seats that the requests in queues wait for.',
    read: ({ seatsInQueues }) => one(seatsInQueues),
  },
  {
    type: 'gauge',
    name: 'current_executing_requests',
    help: 'Requests running; of watches those that have not sent yet what they begin with.',
    read: ({ requestsExecuting }) => one(requestsExecuting),
  },
  {
    type: 'gauge',
    name: 'current_executing_seats',
    help: 'Seats in use, those included that are kept for the events of a write.',
    read: ({ seatsExecuting }) => one(seatsExecuting),
  },
  {
    type: 'gauge',
    name: 'request_concurrency_in_use',
    help: 'The same as current_executing_seats, which replaces it.',
    read: ({ seatsExecuting }) => one(seatsExecuting),
  },
];

const FLOW_HISTOGRAMS: readonly Reader<FlowTallies, HistogramState>[] = [
  {
    name: 'request_queue_length_after_enqueue',
    help: 'Length of its queue as each request saw it that came into one.',
    read: ({ queueLength }) => one(queueLength),
  },
  {
    name: 'request_wait_duration_seconds',
    help: 'Time that requests waited in their queues, by whether they ran in the end.',
    read: ({ waits }) => [
      [{ execute: 'true' }, waits.true],
      [{ execute: 'false' }, waits.false],
    ],
  },
  {
    name: 'request_execution_seconds',
    help: 'Time that requests ran; of watches until they had sent what they begin with.',
    read: ({ executions }) => [
      [{ type: 'regular' }, executions.regular],
      [{ type: 'watch' }, executions.watch],
    ],
  },
  {
    name: 'watch_count_samples',
    help: 'Watches to which each write is sent.',
    read: ({ watchCount }) => one(watchCount),
  },
  {
    name: 'work_estimated_seats',
    help: 'Seats that each request was expected to need.',
    read: ({ estimatedSeats }) => one(estimatedSeats),
  },
];

const gauge = (name: string, help: string, value: (level: LevelTallies) => number) => ({
  name,
  help,
  read: (level: LevelTallies): Reading<number> => one(value(level)),
});

const LEVEL_NUMBERS: readonly Reader<LevelTallies, number>[] = [
  gauge('nominal_limit_seats', 'Seats by configuration.', ({ limit }) => limit.nominal),
  gauge(
    'request_concurrency_limit',
    'The same as nominal_limit_seats, which replaces it.',
    ({ limit }) => limit.nominal,
  ),
  gauge('lower_limit_seats', 'Seats that are never lent.', ({ limit }) => limit.minimum),
  gauge('upper_limit_seats', 'Seats with everything that may be borrowed.', ({ limit }) => limit.maximum),
  gauge(
    'current_limit_seats',
    'Seats now, after lending and borrowing.',
    ({ adjustment }) => adjustment.limit,
  ),
  gauge(
    'demand_seats_high_watermark',
    'Most seats that could have been used lately.',
    ({ adjustment }) => adjustment.highWatermark,
  ),
  gauge(
    'demand_seats_average',
    'Average of the seats that could have been used lately.',
    ({ adjustment }) => adjustment.average,
  ),
  gauge(
    'demand_seats_stdev',
    'Standard deviation of the seats that could have been used lately.',
    ({ adjustment }) => adjustment.deviation,
  ),
  gauge(
    'demand_seats_smoothed',
    'Demand for seats, slowly forgotten.',
    ({ adjustment }) => adjustment.smoothed,
  ),
  gauge('target_seats', 'Seats that the division aims at.', ({ adjustment }) => adjustment.target),
  gauge('current_r', 'Virtual time at the last change, in seat-seconds.', ({ virtualTime }) => virtualTime),
  gauge('dispatch_r', 'Virtual time at the last dispatch.', ({ lastDispatch }) => lastDispatch?.now ?? 0),
  gauge(
    'latest_s',
    'Virtual start of the last request dispatched.',
    ({ lastDispatch }) => lastDispatch?.start ?? 0,
  ),
  {
    name: 'next_s_bounds',
    help: 'Range of the virtual starts of the queues at the last dispatch.',
    read: ({ lastDispatch }) => [
      [{ bound: 'min' }, lastDispatch?.least ?? 0],
      [{ bound: 'max' }, lastDispatch?.most ?? 0],
    ],
  },
  {
    name: 'next_discounted_s_bounds',
    help: 'The same, less the work that is being done.',
    read: ({ lastDispatch }) => [
      [{ bound: 'min' }, lastDispatch?.leastDiscounted ?? 0],
      [{ bound: 'max' }, lastDispatch?.mostDiscounted ?? 0],
    ],
  },
];

const LEVEL_HISTOGRAMS: readonly Reader<LevelTallies, HistogramState>[] = [
  {
    name: 'priority_level_seat_utilization',
    help: 'Part of the seats that is in use, at every nanosecond.',
    read: ({ seatUtilization }) => [[{ phase: 'executing' }, seatUtilization]],
  },
  {
    name: 'priority_level_request_utilization',
    help: 'Requests waiting and running, as a part of what could be, at every nanosecond.',
    read: ({ waitingUtilization, executingUtilization }) => [
      [{ phase: 'waiting' }, waitingUtilization],
      [{ phase: 'executing' }, executingUtilization],
    ],
  },
  {
    name: 'demand_seats',
    help: 'Seats that could be used, as a part of those there are, at every nanosecond.',
    read: ({ demand }) => one(demand),
  },
];
