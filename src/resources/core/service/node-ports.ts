import { internalError, invalid, type StatusError } from '../../../api/status.ts';
import type { Service, ServicePort, ServiceSpec } from '../../../api/types/core/v1.ts';
import { invalidValue } from '../../../object/field-errors.ts';
import { type AssignedValue, PoolFull, type ValueSource } from '../../../registry/assigned-values.ts';
import { NODE_PORTS, type ValuePool } from '../../../registry/value-pool.ts';
import { needsHealthCheckNodePort, needsNodePorts, usesNodePorts } from './kind.ts';

/**
 * Ports that every node keeps for a service: one for each of its ports, and one where load balancers ask for its health. A
 * number is held once, for all protocols.
 */

export function nodePortValues(spec: ServiceSpec): AssignedValue[] {
  const { ports: given = [], healthCheckNodePort = 0 } = spec;
  const ports = new Set(usesNodePorts(spec) ? given.map(({ nodePort = 0 }) => nodePort) : []);
  if (needsHealthCheckNodePort(spec)) ports.add(healthCheckNodePort);
  ports.delete(0);
  return [...ports].map(toValue);
}

const toValue = (port: number): AssignedValue => ({ pool: NODE_PORTS, value: String(port) });

const ALREADY_ALLOCATED = 'provided port is already allocated';

/** @throws StatusError */
export async function assignNodePorts(
  service: Service,
  old: Service | undefined,
  values: ValueSource,
): Promise<void> {
  const { spec = {} } = service;
  const before = old?.spec ?? {};
  const pool = values.pools.find(({ name }) => name === NODE_PORTS);
  if (pool === undefined) return;
  const claims = new Claims(service, pool, values);
  if (usesNodePorts(spec)) {
    if (old === undefined) await assignToNew(spec, claims);
    else await assignToExisting(spec, before, claims);
  }
  const hadHealthCheck = old !== undefined && needsHealthCheckNodePort(before);
  if (!needsHealthCheckNodePort(spec) || hadHealthCheck) return;
  const { healthCheckNodePort: wanted = 0 } = spec;
  if (wanted === 0)
    spec.healthCheckNodePort = await claims.pick('failed to allocate a HealthCheck NodePort 0');
  else await claims.claim(wanted, (why) => healthCheckRefused(wanted, why));
}

/** The ports taken together by one write. */
class Claims {
  readonly #service: Service;
  readonly #pool: ValuePool;
  readonly #values: ValueSource;
  readonly #ports = new Set<number>();

  constructor(service: Service, pool: ValuePool, values: ValueSource) {
    this.#service = service;
    this.#pool = pool;
    this.#values = values;
  }

  /** @throws StatusError 500 when there is none */
  async pick(failure: string): Promise<number> {
    try {
      const port = Number(await this.#values.pick(this.#pool));
      this.#ports.add(port);
      return port;
    } catch (error) {
      if (error instanceof PoolFull) throw internalError(`${failure}: ${error.message}`);
      throw error;
    }
  }

  /** @throws StatusError, made of the reason by `refuse` */
  async claim(port: number, refuse: (why: string) => StatusError): Promise<void> {
    const value = toValue(port);
    if (this.#pool.indexOf(value.value) === undefined) {
      throw refuse(
        `provided port is not in the valid range. The range of valid ports is ${this.#pool.range}`,
      );
    }
    if (this.#ports.has(port) || !(await this.#values.isFree(value, this.#service))) {
      throw refuse(ALREADY_ALLOCATED);
    }
    this.#ports.add(port);
  }

  has(port: number): boolean {
    return this.#ports.has(port);
  }

  claimFor(at: number, port: number): Promise<void> {
    return this.claim(port, (why) => portRefused(this.#service, { at, port }, why));
  }
}

const NO_NODE_PORT = 'failed to allocate a nodePort';

/** Ports of one number in several protocols share a port of the nodes, whether it is given for the first or a later one. */
async function assignToNew(spec: ServiceSpec, claims: Claims): Promise<void> {
  const { ports = [] } = spec;
  const assigned = new Map<number, number>();
  for (const [at, port] of ports.entries()) {
    const { port: number = 0, nodePort: wanted = 0 } = port;
    const shared = assigned.get(number);
    if (wanted === 0 && !needsNodePorts(spec)) continue;
    if (shared !== undefined) {
      if (wanted === 0) port.nodePort = shared;
      else if (wanted !== shared) await claims.claimFor(at, wanted);
      continue;
    }
    const requested = requestedFor(ports, number);
    if (requested !== 0) await claims.claimFor(at, requested);
    const nodePort = requested === 0 ? await claims.pick(NO_NODE_PORT) : requested;
    port.nodePort = nodePort;
    assigned.set(number, nodePort);
  }
}

function requestedFor(ports: readonly ServicePort[], number: number): number {
  const match = ports.find(({ port = 0, nodePort = 0 }) => port === number && nodePort !== 0);
  return match?.nodePort ?? 0;
}

async function assignToExisting(spec: ServiceSpec, before: ServiceSpec, claims: Claims): Promise<void> {
  const held = new Set((before.ports ?? []).map(({ nodePort = 0 }) => nodePort));
  for (const [at, port] of (spec.ports ?? []).entries()) {
    const { nodePort: wanted = 0 } = port;
    if (wanted === 0 && !needsNodePorts(spec)) continue;
    if (wanted === 0) port.nodePort = await claims.pick(NO_NODE_PORT);
    else if (!held.has(wanted) && !claims.has(wanted)) await claims.claimFor(at, wanted);
  }
}

function portRefused(
  { metadata }: Service,
  { at, port }: { at: number; port: number },
  why: string,
): StatusError {
  const error = invalidValue(`spec.ports[${at}].nodePort`, port, why);
  return invalid({ kind: 'Service', group: '' }, metadata.name ?? '', [error]);
}

const healthCheckRefused = (port: number, why: string): StatusError =>
  internalError(`failed to allocate requested HealthCheck NodePort ${port}: ${why}`);

/** The refusal of a service that asks for a port of another object. */
export function nodePortTaken(service: Service, port: number): StatusError {
  const at = (service.spec?.ports ?? []).findIndex(({ nodePort = 0 }) => nodePort === port);
  if (at < 0) return healthCheckRefused(port, ALREADY_ALLOCATED);
  return portRefused(service, { at, port }, ALREADY_ALLOCATED);
}
