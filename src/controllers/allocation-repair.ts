import { EVENTS } from '../api/known-resources.ts';
import type { ApiObject } from '../api/object-meta.ts';
import { StatusError } from '../api/status.ts';
import { warningOf } from '../object/warning-event.ts';
import type { Registry } from '../registry/registry.ts';
import type { ResourceDefinition } from '../registry/resource-definition.ts';
import { NODE_PORTS, type ValuePool } from '../registry/value-pool.ts';
import type { Allocation, Allocations, Holder } from '../storage/allocations.ts';
import { toObject } from '../storage/object-reader.ts';
import type { Client } from '../verbs/client/client.ts';

const AUTHOR = 'allocation-repair';

interface AllocationRepairOptions {
  readonly client: Client;
  readonly registry: Registry;
  readonly allocations: Allocations;
  readonly pools: readonly ValuePool[];
  readonly now: () => Date;
  /** One line for the log. */
  readonly onTrouble: (message: string) => void;
}

/**
 * Makes the recorded allocations equal to those of the live objects: objects of an older version or an imported database have no
 * records yet. A value that two objects hold, or that lies outside the configured ranges, needs an administrator: an event on the
 * object reports it.
 */
export async function repairAllocations(options: AllocationRepairOptions): Promise<void> {
  for (const definition of options.registry.storages()) {
    if (definition.strategy.assigned !== undefined) await repairResource(options, definition);
  }
}

async function repairResource(
  options: AllocationRepairOptions,
  definition: ResourceDefinition,
): Promise<void> {
  const { client, allocations, onTrouble } = options;
  const entries = await client.entries(definition.storage);
  const objects = new Map<string, ApiObject>();
  const holders = entries.map((entry): Holder => {
    const { namespace, name, revision } = entry;
    const object = toObject(entry);
    objects.set(`${namespace}/${name}`, object);
    return { namespace, name, revision, values: definition.strategy.assigned?.valuesOf(object) ?? [] };
  });
  const { added, removed, contested } = await allocations.repair(definition.storage, holders);
  for (const allocation of added) onTrouble(`${describe(allocation)} was held without a record; recorded`);
  for (const allocation of removed) onTrouble(`${describe(allocation)} was recorded but not held; released`);
  const problems = [
    ...contested.map((allocation) => ({ allocation, problem: contestedProblem(allocation) })),
    ...outside(holders, options.pools),
  ];
  for (const { allocation, problem } of problems) {
    onTrouble(`${describe(allocation)}: ${problem.message}`);
    const object = objects.get(`${allocation.namespace}/${allocation.name}`);
    if (object !== undefined) await tell(options, object, problem);
  }
}

const describe = ({ pool, value, namespace, name }: Allocation): string =>
  `${pool} ${value} of ${namespace}/${name}`;

interface Problem {
  readonly reason: string;
  readonly message: string;
}

/** Reasons and texts are Kubernetes'. */
function contestedProblem({ pool, value }: Allocation): Problem {
  const rest = 'was assigned to multiple services; please recreate service';
  return pool === NODE_PORTS
    ? { reason: 'PortAlreadyAllocated', message: `Port ${value} ${rest}` }
    : { reason: 'ClusterIPAlreadyAllocated', message: `Cluster IP [${pool}]:${value} ${rest}` };
}

function outside(
  holders: readonly Holder[],
  pools: readonly ValuePool[],
): { allocation: Allocation; problem: Problem }[] {
  return holders.flatMap(({ namespace, name, values }) =>
    values
      .filter(({ pool, value }) => pools.find((known) => known.name === pool)?.indexOf(value) === undefined)
      .map((value) => {
        const allocation = { ...value, namespace, name };
        return { allocation, problem: outsideProblem(allocation, pools) };
      }),
  );
}

function outsideProblem({ pool, value }: Allocation, pools: readonly ValuePool[]): Problem {
  const range = pools.find(({ name }) => name === pool)?.range;
  if (pool === NODE_PORTS) {
    const message = `Port ${value} is not within the port range ${range}; please recreate service`;
    return { reason: 'PortOutOfRange', message };
  }
  if (range === undefined) {
    const message = `Cluster IP ${value}(${pool}) is of ip family that is no longer configured on cluster; please recreate service`;
    return { reason: 'ClusterIPNotValid', message };
  }
  const message = `Cluster IP [${pool}]:${value} is not within the service CIDR ${range}; please recreate service`;
  return { reason: 'ClusterIPOutOfRange', message };
}

async function tell(
  { client, now, onTrouble }: AllocationRepairOptions,
  object: ApiObject,
  problem: Problem,
): Promise<void> {
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = object.metadata;
  const { kind, apiVersion } = object;
  const event = warningOf(
    { kind, apiVersion, namespace, name, uid, resourceVersion },
    { ...problem, component: AUTHOR, time: now() },
  );
  const failed = (why: string): void =>
    onTrouble(`the event about ${namespace}/${name} could not be written: ${why}`);
  try {
    const written = await client.as(AUTHOR).create(EVENTS, event);
    if (typeof written === 'string') failed(written);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    failed(error.message);
  }
}
