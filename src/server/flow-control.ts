import { Hono } from 'hono';
import type { GroupResource } from '../api/names.ts';
import { FlowControlBootstrap } from '../controllers/flow-control-bootstrap.ts';
import { FlowSchemaConditions } from '../controllers/flow-schema-conditions.ts';
import { FLOW_CONTROL_GROUP } from '../flow-control/bootstrap.ts';
import { parseFlowSchema } from '../flow-control/config/flow-schema.ts';
import { ObjectIndex } from '../flow-control/config/object-index.ts';
import { parsePriorityLevel } from '../flow-control/config/priority-level.ts';
import { type FlowControl, systemClock } from '../flow-control/flow-control.ts';
import { MaxInFlight } from '../flow-control/max-in-flight.ts';
import { PriorityAndFairness } from '../flow-control/priority-and-fairness.ts';
import { FlowControlMetrics } from '../observability/flow-control/metrics.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { ServerOptions } from '../options/options.ts';
import { createFlowControlDumps } from '../pipeline/flow-control.ts';
import type { Registry } from '../registry/registry.ts';
import type { ResourceTarget } from '../request/api-request.ts';
import { Follower } from '../storage/follower.ts';
import type { Store } from '../storage/store.ts';
import type { ObjectWriter } from '../verbs/writing/writer.ts';
import type { Services } from './services.ts';

export interface FlowControlParts {
  readonly options: ServerOptions;
  readonly store: Store;
  readonly countObjects: (resource: GroupResource) => number | undefined;
  readonly registry: Registry;
  readonly writer: ObjectWriter;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly now: () => Date;
  readonly services: Services;
  /** Does a step of the start, as often as it takes while the database is away. */
  readonly lasting: (step: () => Promise<void>) => Promise<void>;
}

export interface FlowControlOfServer {
  /** Undefined: no limits at all. */
  readonly flowControl: FlowControl | undefined;
  /** /debug/api_priority_and_fairness */
  readonly dumps: Hono;
}

/** Resolves when the objects that requests are classified by exist and are known. */
export async function createFlowControl(parts: FlowControlParts): Promise<FlowControlOfServer> {
  const { options } = parts;
  if (options.priorityAndFairness) return createPriorityAndFairness(parts);
  const limits = { reading: options.maxRequestsInflight, mutating: options.maxMutatingRequestsInflight };
  const limited = limits.reading > 0 || limits.mutating > 0;
  return { flowControl: limited ? new MaxInFlight(limits) : undefined, dumps: new Hono() };
}

async function createPriorityAndFairness(parts: FlowControlParts): Promise<FlowControlOfServer> {
  const { store, services, logger } = parts;
  const engine = createEngine(parts);
  const onError = (error: unknown): void => logger.error('flow control', error);
  const conditions = new FlowSchemaConditions({ ...parts, onError });
  const bootstrap = new FlowControlBootstrap({ ...parts, onError });
  const onChange = (): void => {
    engine.configure(schemas.values(), levels.values());
    conditions.wake();
  };
  const schemas = new ObjectIndex(parseFlowSchema, onChange);
  const levels = new ObjectIndex(parsePriorityLevel, onChange);
  const follower = new Follower({
    store,
    sources: [
      { resource: { group: FLOW_CONTROL_GROUP, resource: 'flowschemas' }, index: schemas },
      { resource: { group: FLOW_CONTROL_GROUP, resource: 'prioritylevelconfigurations' }, index: levels },
    ],
  });
  services.start('flow-control-configuration', 'essential', (signal, works) => follower.run(signal, works));
  await services.until(follower.ready());
  await parts.lasting(() => bootstrap.ensure());
  services.start('flow-control-objects', 'upkeep', (signal) => bootstrap.run(signal));
  services.start('flow-schema-conditions', 'upkeep', (signal) => conditions.run(signal));
  services.start('flow-control-adjustment', 'upkeep', (signal) => engine.run(signal));
  return { flowControl: engine, dumps: createFlowControlDumps(() => engine.levels, systemClock) };
}

function createEngine({ options, registry, countObjects, metrics }: FlowControlParts): PriorityAndFairness {
  return new PriorityAndFairness({
    serverSeats: options.maxRequestsInflight + options.maxMutatingRequestsInflight,
    requestTimeoutMs: options.requestTimeoutMs,
    watchList: options.featureGates.isEnabled('WatchList'),
    countObjects: ({ group, version, resource }: ResourceTarget) => {
      const served = registry.find(group, version, resource);
      return served === undefined ? undefined : countObjects(served.definition.storage);
    },
    clock: systemClock,
    metrics: new FlowControlMetrics(metrics.registry, () => systemClock.now()),
  });
}
