import { internalError, invalid, type StatusError } from '../../../api/status.ts';
import type { Service, ServiceSpec } from '../../../api/types/core/v1.ts';
import { invalidValue } from '../../../object/field-errors.ts';
import { formatIp, isIpv6, parseIp } from '../../../object/ip.ts';
import {
  type AssignedValue,
  type AssignedValues,
  PoolFull,
  type ValueSource,
} from '../../../registry/assigned-values.ts';
import { NODE_PORTS } from '../../../registry/value-pool.ts';
import { chooseFamilies, staysPreferred } from './families.ts';
import { isExternalName, isHeadless } from './kind.ts';
import { assignNodePorts, nodePortTaken, nodePortValues } from './node-ports.ts';
import { keepAssigned, syncClusterIpsOnCreate, syncClusterIpsOnUpdate } from './preparation.ts';

const ALREADY_ALLOCATED = 'provided IP is already allocated';

/** Addresses of the cluster, ports of its nodes. */
export const serviceValues: AssignedValues<Service> = {
  complete: (service, old) => {
    if (old === undefined) {
      syncClusterIpsOnCreate(service);
      return;
    }
    keepAssigned(service, old);
    syncClusterIpsOnUpdate(service, old);
  },
  assign: async (service, old, values) => {
    const families = values.pools.map(({ name }) => name).filter((name) => name !== NODE_PORTS);
    chooseFamilies(service, old, families);
    await assignClusterIps(service, old, values);
    await assignNodePorts(service, old, values);
  },
  valuesOf: ({ spec = {} }) => [...clusterIpValues(spec), ...nodePortValues(spec)],
  whenTaken: (service, value) => {
    if (value.pool === NODE_PORTS) return nodePortTaken(service, Number(value.value));
    const ips = service.spec?.clusterIPs ?? [];
    const ip = ips.find((given) => toValue(given).value === value.value) ?? value.value;
    return refused(service, ips, ip, ALREADY_ALLOCATED);
  },
};

/** Addresses are held in one spelling, whichever the caller uses. */
function toValue(ip: string): AssignedValue {
  const address = parseIp(ip);
  return { pool: isIpv6(ip) ? 'IPv6' : 'IPv4', value: address === undefined ? ip : formatIp(address.bytes) };
}

function clusterIpValues(spec: ServiceSpec): AssignedValue[] {
  if (isExternalName(spec) || isHeadless(spec)) return [];
  return (spec.clusterIPs ?? []).filter((ip) => ip !== '').map(toValue);
}

async function assignClusterIps(
  service: Service,
  old: Service | undefined,
  values: ValueSource,
): Promise<void> {
  const { spec = {} } = service;
  const { clusterIPs: given = [], ipFamilies = [] } = spec;
  if (isExternalName(spec) || given[0] === 'None') return;
  const first = firstToAssign(spec, old);
  const ips = [...given];
  for (const [at, family] of ipFamilies.entries()) {
    if (at < first) continue;
    const ip = given[at] ?? '';
    if (ip === '') ips[at] = await pickAddress(family, values);
    else await checkAddress(service, { ip, given }, values);
  }
  if (ips.length === 0) return;
  spec.clusterIPs = ips;
  if (first === 0) spec.clusterIP = ips[0] ?? '';
}

/** The first address to assign anew: 0 for all, infinity for none, 1 for a service that gets a second family. */
function firstToAssign(spec: ServiceSpec, old: Service | undefined): number {
  const before = old?.spec ?? {};
  const { clusterIPs = [] } = before;
  if (old === undefined || isExternalName(before)) return 0;
  if (isHeadless(before) || staysPreferred(spec, before)) return Number.POSITIVE_INFINITY;
  // The service is older than the assignment of addresses.
  if (clusterIPs.length === 0) return 0;
  return clusterIPs.length === 1 && spec.ipFamilies?.length === 2 ? 1 : Number.POSITIVE_INFINITY;
}

async function pickAddress(family: string, values: ValueSource): Promise<string> {
  const pool = values.pools.find(({ name }) => name === family);
  try {
    if (pool !== undefined) return await values.pick(pool);
  } catch (error) {
    if (!(error instanceof PoolFull)) throw error;
  }
  throw internalError('failed to allocate a serviceIP: range is full');
}

/** The cluster's own API is the service with the first address. */
const isApiOfCluster = ({ metadata }: Service): boolean =>
  metadata.namespace === 'default' && metadata.name === 'kubernetes';

/** @throws StatusError 422 */
async function checkAddress(
  service: Service,
  { ip, given }: { ip: string; given: readonly string[] },
  values: ValueSource,
): Promise<void> {
  const value = toValue(ip);
  const pool = values.pools.find(({ name }) => name === value.pool);
  const index = pool?.indexOf(value.value);
  if (pool === undefined || index === undefined) {
    const why = `the provided IP (${value.value}) is not in the valid range. The range of valid IPs is ${pool?.range ?? ''}`;
    throw refused(service, given, ip, why);
  }
  const isReserved = index < pool.reserved && !isApiOfCluster(service);
  if (isReserved || !(await values.isFree(value, service)))
    throw refused(service, given, ip, ALREADY_ALLOCATED);
}

function refused({ metadata }: Service, given: readonly string[], ip: string, why: string): StatusError {
  const error = invalidValue('spec.clusterIPs', given, `failed to allocate IP ${ip}: ${why}`);
  return invalid({ kind: 'Service', group: '' }, metadata.name ?? '', [error]);
}
