import type { GroupResource } from '../api/names.ts';
import type { ApiObject, JsonObject } from '../api/object-meta.ts';
import { equal } from '../object/equality.ts';
import { isIpv6 } from '../object/ip.ts';
import type { Trust } from '../storage/object-reader.ts';
import type { ServerAddress, ServerLeases } from '../storage/server-leases.ts';
import { getOrAdd } from '../util/get-or-add.ts';
import { inTime } from '../util/in-time.ts';
import { repeat } from '../util/pause.ts';
import { AS_SERVER, type Client } from '../verbs/client/client.ts';

const RENEW_EVERY_MS = 5000;
/** A server that has missed two renewals counts as dead. */
const LEASE_MS = 12_000;

/** Limit for leaving. Without the database the lease just expires. */
const LEAVE_MS = 5000;

const SERVICES: GroupResource = { group: '', resource: 'services' };
const ENDPOINTS: GroupResource = { group: '', resource: 'endpoints' };
const SLICES: GroupResource = { group: 'discovery.k8s.io', resource: 'endpointslices' };

interface KubernetesServiceOptions {
  readonly client: Client;
  readonly leases: ServerLeases;
  readonly service: ServiceShape;
  /** The address of this server; undefined: this server does not maintain endpoints (--endpoint-reconciler-type=none). */
  readonly self: ServerAddress | undefined;
  readonly onError: (error: unknown) => void;
  readonly renewEveryMs?: number;
  readonly leaseMs?: number;
}

interface Putting {
  /** What the object must have; all else stays. */
  readonly fields: readonly string[];
  readonly trust: Trust;
}

/**
 * Maintains service default/kubernetes, its Endpoints and its EndpointSlices: every server renews its lease every few seconds, and
 * writes the addresses of all servers with a lease. The others remove a server that dies; a server that ends removes itself.
 */
export class KubernetesService {
  readonly #options: KubernetesServiceOptions;
  readonly #client: Client;
  #left = false;
  readonly #ready = Promise.withResolvers<void>();
  /** Rounds and leaving exclude each other, so that no earlier round adds this server again. */
  #busy: Promise<void> = Promise.resolve();

  constructor(options: KubernetesServiceOptions) {
    this.#options = options;
    this.#client = options.client.as('kubernetes-service-controller', AS_SERVER);
  }

  /** Resolves after the first successful round. */
  ready(): Promise<void> {
    return this.#ready.promise;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { renewEveryMs: everyMs = RENEW_EVERY_MS, onError } = this.#options;
    await repeat(() => this.#inTurn(() => this.#round()), signal, { everyMs, onError });
  }

  /** To be called when the server starts to end, while it still serves, so that traffic moves elsewhere. Never rejects. */
  async leave(): Promise<void> {
    const { self, leases, onError } = this.#options;
    this.#left = true;
    if (self === undefined) return;
    const left = this.#inTurn(async () => this.#write(await leases.release(self), self, 'latest')).catch(
      onError,
    );
    await inTime(left, LEAVE_MS, () => {});
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#busy.then(work);
    this.#busy = turn.catch(() => {});
    return turn;
  }

  async #round(): Promise<void> {
    const { service, self, leases, leaseMs = LEASE_MS } = this.#options;
    if (this.#left) return;
    // A round that has seen an old state is followed by another.
    const trust = 'cached-if-found';
    await this.#client.ensure(SERVICES, toService(service), { trust });
    if (self !== undefined) await this.#write(await leases.renew(self, leaseMs), self, trust);
    this.#ready.resolve();
  }

  async #write(servers: readonly ServerAddress[], self: ServerAddress, trust: Trust): Promise<void> {
    await this.#put(ENDPOINTS, toEndpoints(servers), { fields: ['subsets'], trust });
    const wanted = toEndpointSlices(servers, self);
    const fields = ['endpoints', 'ports', 'addressType'];
    for (const slice of wanted) await this.#put(SLICES, slice, { fields, trust });
    await this.#dropOtherSlices(new Set(wanted.map(({ metadata }) => metadata.name ?? '')));
  }

  /** Writes only changed objects; most rounds find none. */
  async #put(resource: GroupResource, wanted: ApiObject, { fields, trust }: Putting): Promise<void> {
    const { namespace = '', name = '' } = wanted.metadata;
    const mend = (current: ApiObject): ApiObject | undefined => {
      const labels = { ...current.metadata.labels, ...wanted.metadata.labels };
      const isSame = fields.every((field) => equal(current[field] ?? [], wanted[field] ?? []));
      if (isSame && equal(labels, current.metadata.labels ?? {})) return undefined;
      const values = Object.fromEntries(fields.map((field) => [field, structuredClone(wanted[field] ?? [])]));
      return { ...current, metadata: { ...current.metadata, labels }, ...values };
    };
    const current = await this.#client.get(resource, { namespace, name }, trust);
    // The family of a slice cannot change.
    if (current !== undefined && current.addressType !== wanted.addressType)
      await this.#client.remove(resource, { namespace, name });
    else if (current !== undefined && mend(current) === undefined) return;
    await this.#client.ensure(resource, wanted, { mend });
  }

  /** Deletes slices that something else made for the service, because clients read all slices and would find wrong servers. */
  async #dropOtherSlices(names: ReadonlySet<string>): Promise<void> {
    const namespace = SERVICE_NAMESPACE;
    for (const slice of await this.#client.list(SLICES, { namespace }, 'cached')) {
      const { name = '' } = slice.metadata;
      if (isServiceSlice(slice) && !names.has(name)) await this.#client.remove(SLICES, { namespace, name });
    }
  }
}

/** The objects behind service default/kubernetes, for the servers that are alive. */

const SERVICE_NAME = 'kubernetes';
const SERVICE_NAMESPACE = 'default';
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

interface ServiceShape {
  /** First address of --service-cluster-ip-range. */
  readonly clusterIp: string;
  readonly targetPort: number;
  /** 0: type ClusterIP. */
  readonly nodePort: number;
}

function toService({ clusterIp, targetPort, nodePort }: ServiceShape): ApiObject {
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
  for (const { address, port } of sorted) getOrAdd(ports, port, () => []).push(address);
  return ports;
}
