import { Hono } from 'hono';
import type { Minor } from '../api/emulation.ts';
import type { GroupResource } from '../api/names.ts';
import { FlowControlBootstrap } from '../controllers/flow-control-bootstrap.ts';
import { FlowSchemaConditions } from '../controllers/flow-schema-conditions.ts';
import { type RunningTurns, runningTurns } from '../flow-control/dumps.ts';
import {
  type FlowSchema,
  ObjectIndex,
  type PriorityLevel,
  parseFlowSchema,
  parsePriorityLevel,
} from '../flow-control/flow-configuration.ts';
import { type FlowControl, MaxInFlight, systemClock } from '../flow-control/flow-control.ts';
import { type FlowMetrics, ofFlowsAlone } from '../flow-control/flow-recorder.ts';
import {
  allocateFlowMemory,
  type FlowCounters,
  type FlowElsewhere,
  type FlowMemory,
  PriorityAndFairness,
  type ToldConfiguration,
} from '../flow-control/priority-and-fairness.ts';
import { SeatCounters } from '../flow-control/queueing/seats.ts';
import { FLOW_CONTROL_GROUP } from '../flow-control/shipped-configuration.ts';
import { WatchCounts } from '../flow-control/watch-counts.ts';
import { FlowControlMetrics } from '../observability/flow-control/flow-control-metrics.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { LimitOptions } from '../options/limits.ts';
import { createFlowControlDumps, type TurnsOfOthers } from '../pipeline/flow-control.ts';
import type { Registry } from '../registry/registry.ts';
import type { ResourceTarget } from '../request/api-request.ts';
import { Follower } from '../storage/follower.ts';
import type { Store } from '../storage/store.ts';
import type { Client } from '../verbs/client/client.ts';
import type { Services } from './services.ts';

/** What classification and queues need in every thread. */
interface EngineParts {
  readonly countObjects: (resource: GroupResource) => number | undefined;
  readonly registry: Registry;
  readonly metrics: Metrics;
  isFeatureOn(gate: string): boolean;
}

interface FlowControlParts extends EngineParts {
  readonly store: Store;
  readonly client: Client;
  readonly logger: Logger;
  readonly now: () => Date;
  readonly emulated: Minor;
  readonly services: Services;
  /** --serving-threads */
  readonly threads: number;
  readonly turnsOfOthers: TurnsOfOthers;
  /** Repeats a step of the start while the database is unavailable. */
  persistently(step: () => Promise<void>): Promise<void>;
}

export interface FlowControlOfServer {
  /** Undefined: no limits. */
  readonly flowControl: FlowControl | undefined;
  /** /debug/api_priority_and_fairness */
  readonly dumps: Hono;
  readonly shared: SharedFlowControl;
}

/** What serving threads share of flow control. */
export interface SharedFlowControl {
  readonly memory: FlowMemory;
  /** Calls back with the configuration, now and after each change. Returns a function that ends this. */
  follow(listener: (configuration: ToldConfiguration) => void): () => void;
  /** A thread gave seats back for which requests wait. */
  freed(slot: number): void;
  /** A thread no longer runs. `row`: its number. */
  threadEnded(row: number): void;
}

/** Resolves when the objects that classify requests exist and are loaded. */
export async function createFlowControl(
  options: LimitOptions,
  parts: FlowControlParts,
): Promise<FlowControlOfServer> {
  const memory = allocateFlowMemory(parts.threads > 1 ? parts.threads : 0);
  const counters = countersIn(memory, 0);
  if (options.priorityAndFairness) return createPriorityAndFairness(options, { ...parts, memory, counters });
  const shared = { memory, follow: () => () => {}, freed: () => {} };
  return {
    ...{ flowControl: createMaxInFlight(options, counters), dumps: new Hono() },
    shared: { ...shared, threadEnded: (row) => counters.seats.clear(row) },
  };
}

function createMaxInFlight(options: LimitOptions, { seats }: FlowCounters): MaxInFlight | undefined {
  const limits = { reading: options.maxRequestsInflight, mutating: options.maxMutatingRequestsInflight };
  return limits.reading > 0 || limits.mutating > 0 ? new MaxInFlight(limits, seats) : undefined;
}

const countersIn = (
  { seats, watches }: FlowMemory,
  row: number,
  onFreed?: (slot: number) => void,
): FlowCounters => ({
  seats: new SeatCounters(seats, row, onFreed),
  watches: new WatchCounts(watches, row),
});

interface ThreadFlowParts extends EngineParts {
  readonly memory: FlowMemory;
  /** The number of the thread. */
  readonly row: number;
  readonly elsewhere: FlowElsewhere;
  onFreed(slot: number): void;
}

/** The flow control of a serving thread, which takes free seats by itself. */
interface ThreadFlowControl {
  /** Undefined: no limits. */
  readonly flowControl: FlowControl | undefined;
  hear(configuration: ToldConfiguration): void;
  running(asked: { readonly details: boolean }): RunningTurns[];
}

export function createThreadFlowControl(options: LimitOptions, parts: ThreadFlowParts): ThreadFlowControl {
  const { memory, row, elsewhere, onFreed } = parts;
  const counters = countersIn(memory, row, onFreed);
  if (!options.priorityAndFairness)
    return { flowControl: createMaxInFlight(options, counters), hear: () => {}, running: () => [] };
  const engine = createEngine(options, {
    ...{ ...parts, counters, elsewhere },
    wrap: ofFlowsAlone,
  });
  return {
    flowControl: engine,
    hear: (configuration) => engine.hear(configuration),
    running: ({ details }) => runningTurns(engine.levels, { clock: systemClock, details }),
  };
}

async function createPriorityAndFairness(
  options: LimitOptions,
  parts: FlowControlParts & { readonly memory: FlowMemory; readonly counters: FlowCounters },
): Promise<FlowControlOfServer> {
  const { store, client, now, services, logger, emulated, memory, turnsOfOthers } = parts;
  const engine = createEngine(options, parts);
  const onError = (error: unknown): void => logger.error('flow control', error);
  const conditions = new FlowSchemaConditions({ client, now, onError });
  const bootstrap = new FlowControlBootstrap({ client, emulated, onError });
  const configuration = new Configuration((schemas, levels) => {
    engine.configure(schemas, levels);
    conditions.wake();
  });
  const follower = new Follower({ store, sources: configuration.sources });
  services.start('flow-control-configuration', 'essential', (signal, works) => follower.run(signal, works));
  await services.until(follower.ready());
  await parts.persistently(() => bootstrap.ensure());
  services.start('flow-control-objects', 'upkeep', (signal) => bootstrap.run(signal));
  services.start('flow-schema-conditions', 'upkeep', (signal) => conditions.run(signal));
  services.start('flow-control-adjustment', 'upkeep', (signal) => engine.run(signal));
  if (parts.threads > 1)
    services.start('flow-control-observation', 'upkeep', (signal) => engine.observe(signal));
  return {
    flowControl: engine,
    dumps: createFlowControlDumps(() => engine.levels, systemClock, turnsOfOthers),
    shared: {
      memory,
      follow: (listener) => {
        listener(engine.configuration);
        return engine.follow(listener);
      },
      freed: (slot) => engine.freed(slot),
      threadEnded: (row) => engine.threadEnded(row),
    },
  };
}

type Configure = (schemas: readonly FlowSchema[], levels: readonly PriorityLevel[]) => void;

/** The objects that configure flow control. A change of one kind reconfigures it with both. */
class Configuration {
  readonly #configure: Configure;
  readonly #schemas = new ObjectIndex(parseFlowSchema, () => this.#changed());
  readonly #levels = new ObjectIndex(parsePriorityLevel, () => this.#changed());

  constructor(configure: Configure) {
    this.#configure = configure;
  }

  get sources() {
    return [
      { resource: { group: FLOW_CONTROL_GROUP, resource: 'flowschemas' }, index: this.#schemas },
      {
        resource: { group: FLOW_CONTROL_GROUP, resource: 'prioritylevelconfigurations' },
        index: this.#levels,
      },
    ];
  }

  #changed(): void {
    this.#configure(this.#schemas.values(), this.#levels.values());
  }
}

interface EngineOptions extends EngineParts {
  readonly counters: FlowCounters;
  readonly elsewhere?: FlowElsewhere;
  readonly wrap?: (metrics: FlowMetrics) => FlowMetrics;
}

function createEngine(
  options: LimitOptions,
  { registry, countObjects, metrics, isFeatureOn, counters, elsewhere, wrap = (all) => all }: EngineOptions,
): PriorityAndFairness {
  return new PriorityAndFairness({
    ...{ counters, ...(elsewhere === undefined ? {} : { elsewhere }) },
    serverSeats: options.maxRequestsInflight + options.maxMutatingRequestsInflight,
    requestTimeoutMs: options.requestTimeoutMs,
    watchList: isFeatureOn('WatchList'),
    countObjects: ({ group, version, resource }: ResourceTarget) => {
      const served = registry.find(group, version, resource);
      return served === undefined ? undefined : countObjects(served.definition.storage);
    },
    clock: systemClock,
    metrics: wrap(new FlowControlMetrics(metrics.registry, () => systemClock.now())),
  });
}
