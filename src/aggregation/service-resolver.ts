import { ENDPOINTS, SERVICES } from '../api/known-resources.ts';
import type { ResourceOf } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import type { Endpoints, Service } from '../api/types/core/v1.ts';
import type { EndpointSlice } from '../api/types/discovery/v1.ts';
import { assertRoutable, clusterAddressOf, servicePortOf } from '../object/service-address.ts';
import type { Place } from '../outbound/egress/service-dial.ts';
import { ObjectReader, toObject } from '../storage/object-reader.ts';
import type { Entry, Store } from '../storage/store.ts';
import type { ServiceAddress } from './managed-api-services.ts';

export const ENDPOINT_SLICES: ResourceOf<EndpointSlice> = {
  group: 'discovery.k8s.io',
  resource: 'endpointslices',
};
/** The label by which a slice belongs to a service. */
export const SERVICE_NAME = 'kubernetes.io/service-name';

/** Ready addresses of a service, and their common ports. */
interface Subset {
  readonly addresses: readonly string[];
  readonly ports: readonly { readonly name: string; readonly port: number }[];
}

/**
 * Resolves services from the watch cache (Kubernetes: apiserver/pkg/util/proxy). Prefers Endpoints to slices, so that either
 * works when written by hand, without a controller that mirrors it.
 */
export class ServiceResolver {
  readonly #reader: ObjectReader;
  readonly #byEndpoints: boolean;
  /** Parsed objects, valid as long as their entries. */
  readonly #parsed = new WeakMap<Entry, ApiObject>();

  /** `byEndpoints`: --enable-aggregator-routing */
  constructor(store: Pick<Store, 'get' | 'list'>, byEndpoints: boolean) {
    this.#reader = new ObjectReader(store);
    this.#byEndpoints = byEndpoints;
  }

  /** @throws Error in Kubernetes' words; StorageError */
  async resolve(address: ServiceAddress): Promise<Place> {
    const { namespace, name, port } = address;
    const service = await this.service(namespace, name);
    if (service === undefined) throw new Error(`service ${JSON.stringify(name)} not found`);
    if (!this.#byEndpoints) return { host: clusterAddressOf(service, port), port };
    const portName = servicePortOf(service, port).name;
    assertRoutable(service.spec?.type);
    const places = ((await this.subsets(namespace, name)) ?? []).flatMap(({ addresses, ports }) =>
      ports
        .filter((one) => one.name === portName)
        .flatMap((one) => addresses.map((host) => ({ host, port: one.port }))),
    );
    const chosen = places[Math.floor(Math.random() * places.length)];
    if (chosen === undefined) throw new Error(`no endpoints available for service ${JSON.stringify(name)}`);
    return chosen;
  }

  async service(namespace: string, name: string): Promise<Service | undefined> {
    const entry = await this.#reader.entry({ ...SERVICES, namespace, name }, 'cached-if-found');
    return entry === undefined ? undefined : this.#parse<Service>(entry);
  }

  /** Undefined: no endpoints exist. */
  async subsets(namespace: string, name: string): Promise<readonly Subset[] | undefined> {
    const entry = await this.#reader.entry({ ...ENDPOINTS, namespace, name }, 'cached');
    if (entry !== undefined) return (this.#parse<Endpoints>(entry).subsets ?? []).map(toSubset);
    const slices = await this.#reader.entries(ENDPOINT_SLICES, { namespace }, 'cached');
    const own = slices.filter(({ labels }) => labels[SERVICE_NAME] === name);
    return own.length === 0 ? undefined : own.map((one) => sliceToSubset(this.#parse<EndpointSlice>(one)));
  }

  #parse<T extends ApiObject>(entry: Entry): T {
    let object = this.#parsed.get(entry);
    if (object === undefined) {
      object = toObject(entry);
      this.#parsed.set(entry, object);
    }
    // The entry belongs to the resource that it was read from.
    return object as T;
  }
}

const toSubset = ({ addresses, ports }: NonNullable<Endpoints['subsets']>[number]): Subset => ({
  addresses: (addresses ?? []).map(({ ip = '' }) => ip),
  ports: (ports ?? []).map(({ name = '', port = 0 }) => ({ name, port })),
});

const sliceToSubset = ({ endpoints, ports }: EndpointSlice): Subset => ({
  addresses: (endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready !== false)
    .flatMap(({ addresses }) => addresses?.slice(0, 1) ?? []),
  ports: (ports ?? []).flatMap(({ name = '', port }) => (port === undefined ? [] : [{ name, port }])),
});
