import { Hono } from 'hono';
import type { Minor } from '../api/emulation.ts';
import type { GroupResource } from '../api/names.ts';
import { FlowControlBootstrap } from '../controllers/flow-control-bootstrap.ts';
import { FlowSchemaConditions } from '../controllers/flow-schema-conditions.ts';
import {
  type FlowSchema,
  ObjectIndex,
  type PriorityLevel,
  parseFlowSchema,
  parsePriorityLevel,
} from '../flow-control/flow-configuration.ts';
import { type FlowControl, MaxInFlight, systemClock } from '../flow-control/flow-control.ts';
import { PriorityAndFairness } from '../flow-control/priority-and-fairness.ts';
import { FLOW_CONTROL_GROUP } from '../flow-control/shipped-configuration.ts';
import { FlowControlMetrics } from '../observability/flow-control/flow-control-metrics.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { LimitOptions } from '../options/limits.ts';
import { createFlowControlDumps } from '../pipeline/flow-control.ts';
import type { Registry } from '../registry/registry.ts';
import type { ResourceTarget } from '../request/api-request.ts';
import { Follower } from '../storage/follower.ts';
import type { Store } from '../storage/store.ts';
import type { Client } from '../verbs/client/client.ts';
import type { Services } from './services.ts';

interface FlowControlParts {
  readonly store: Store;
  readonly countObjects: (resource: GroupResource) => number | undefined;
  readonly registry: Registry;
  readonly client: Client;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly now: () => Date;
  readonly emulated: Minor;
  readonly services: Services;
  isFeatureOn(gate: string): boolean;
  /** Repeats a step of the start while the database is unavailable. */
  persistently(step: () => Promise<void>): Promise<void>;
}

export interface FlowControlOfServer {
  /** Undefined: no limits. */
  readonly flowControl: FlowControl | undefined;
  /** /debug/api_priority_and_fairness */
  readonly dumps: Hono;
}

/** Resolves when the objects that classify requests exist and are loaded. */
export async function createFlowControl(
  options: LimitOptions,
  parts: FlowControlParts,
): Promise<FlowControlOfServer> {
  if (options.priorityAndFairness) return createPriorityAndFairness(options, parts);
  const limits = { reading: options.maxRequestsInflight, mutating: options.maxMutatingRequestsInflight };
  const limited = limits.reading > 0 || limits.mutating > 0;
  return { flowControl: limited ? new MaxInFlight(limits) : undefined, dumps: new Hono() };
}

async function createPriorityAndFairness(
  options: LimitOptions,
  parts: FlowControlParts,
): Promise<FlowControlOfServer> {
  const { store, client, now, services, logger, emulated } = parts;
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
  return { flowControl: engine, dumps: createFlowControlDumps(() => engine.levels, systemClock) };
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

function createEngine(
  options: LimitOptions,
  { registry, countObjects, metrics, isFeatureOn }: FlowControlParts,
): PriorityAndFairness {
  return new PriorityAndFairness({
    serverSeats: options.maxRequestsInflight + options.maxMutatingRequestsInflight,
    requestTimeoutMs: options.requestTimeoutMs,
    watchList: isFeatureOn('WatchList'),
    countObjects: ({ group, version, resource }: ResourceTarget) => {
      const served = registry.find(group, version, resource);
      return served === undefined ? undefined : countObjects(served.definition.storage);
    },
    clock: systemClock,
    metrics: new FlowControlMetrics(metrics.registry, () => systemClock.now()),
  });
}
