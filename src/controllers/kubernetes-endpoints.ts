import type { ApiObject, JsonObject } from '../api/object-meta.ts';
import { isIpv6 } from '../object/ip.ts';
import type { ServerAddress } from '../storage/server-leases.ts';

/** The objects behind service default/kubernetes, for the servers that are alive. */

export const SERVICE_NAME = 'kubernetes';
export const SERVICE_NAMESPACE = 'default';
const PORT_NAME = 'https';
/** Tells the mirroring controller to leave the objects alone, because this server maintains both. */
const SKIP_MIRROR = { 'endpointslice.kubernetes.io/skip-mirror': 'true' };
const SERVICE_LABEL = 'kubernetes.io/service-name';

export function toEndpoints(servers: readonly ServerAddress[]): ApiObject {
  const subsets = [...byPort(servers)].map(([port, addresses]) => ({
    addresses: addresses.map((ip) => ({ ip })),
    ports: [{ name: PORT_NAME, port, protocol: 'TCP' }],
  }));
  return {
    kind: 'Endpoints',
    apiVersion: 'v1',
    metadata: { name: SERVICE_NAME, namespace: SERVICE_NAMESPACE, labels: { ...SKIP_MIRROR } },
    subsets,
  };
}

/**
 * One slice for each port and address family of the servers, normally one in all. The first slice has the name that Kubernetes
 * gives it. When `leaving` was the last server its slice stays, without endpoints.
 */
export function toEndpointSlices(servers: readonly ServerAddress[], leaving: ServerAddress): ApiObject[] {
  const groups = toGroups(servers);
  return (groups.length === 0 ? [toEmptyGroup(leaving)] : groups).map(toEndpointSlice);
}

/** Servers with the same port and family, for one slice. */
interface SliceGroup {
  readonly addressType: 'IPv4' | 'IPv6';
  readonly addresses: readonly string[];
  readonly port: number;
}

const toEmptyGroup = ({ address, port }: ServerAddress): SliceGroup => ({
  addressType: isIpv6(address) ? 'IPv6' : 'IPv4',
  addresses: [],
  port,
});

function toGroups(servers: readonly ServerAddress[]): SliceGroup[] {
  return [...byPort(servers)].flatMap(([port, addresses]) => {
    const families: readonly SliceGroup[] = [
      { addressType: 'IPv4', addresses: addresses.filter((address) => !isIpv6(address)), port },
      { addressType: 'IPv6', addresses: addresses.filter(isIpv6), port },
    ];
    return families.filter((family) => family.addresses.length > 0);
  });
}

function toEndpointSlice({ addressType, addresses, port }: SliceGroup, at: number): ApiObject {
  return {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: {
      name: at === 0 ? SERVICE_NAME : `${SERVICE_NAME}-${addressType.toLowerCase()}-${port}`,
      namespace: SERVICE_NAMESPACE,
      labels: { [SERVICE_LABEL]: SERVICE_NAME },
    },
    addressType,
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports: [{ name: PORT_NAME, port, protocol: 'TCP' }],
  };
}

/** Whether a slice belongs to the service, even if something else created it. */
export const isServiceSlice = ({ metadata }: ApiObject): boolean =>
  metadata.labels?.[SERVICE_LABEL] === SERVICE_NAME;

export interface ServiceShape {
  /** First address of --service-cluster-ip-range. */
  readonly clusterIp: string;
  readonly targetPort: number;
  /** 0: type ClusterIP. */
  readonly nodePort: number;
}

export function toService({ clusterIp, targetPort, nodePort }: ServiceShape): ApiObject {
  const port: JsonObject = { name: PORT_NAME, port: 443, protocol: 'TCP', targetPort };
  if (nodePort > 0) port.nodePort = nodePort;
  return {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: {
      name: SERVICE_NAME,
      namespace: SERVICE_NAMESPACE,
      labels: { component: 'apiserver', provider: 'kubernetes' },
    },
    spec: {
      clusterIP: clusterIp,
      clusterIPs: [clusterIp],
      ipFamilies: [isIpv6(clusterIp) ? 'IPv6' : 'IPv4'],
      ipFamilyPolicy: 'SingleStack',
      ports: [port],
      sessionAffinity: 'None',
      type: nodePort > 0 ? 'NodePort' : 'ClusterIP',
    },
    status: { loadBalancer: {} },
  };
}

function byPort(servers: readonly ServerAddress[]): Map<number, string[]> {
  const ports = new Map<number, string[]>();
  const sorted = [...servers].sort((a, b) => a.port - b.port || (a.address < b.address ? -1 : 1));
  for (const { address, port } of sorted) ports.set(port, [...(ports.get(port) ?? []), address]);
  return ports;
}
