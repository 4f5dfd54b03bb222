import type { GroupResource } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import { equal } from '../object/equality.ts';
import type { ServerAddress, ServerLeases } from '../storage/server-leases.ts';
import { pause } from '../util/pause.ts';
import type { Client } from '../verbs/client/client.ts';
import {
  isServiceSlice,
  SERVICE_NAMESPACE,
  type ServiceShape,
  toEndpointSlices,
  toEndpoints,
  toService,
} from './kubernetes-endpoints.ts';

const RENEW_EVERY_MS = 5000;
/** A server that has missed two renewals is dead. */
const LEASE_MS = 12_000;

/** Without the database nobody can be told; the lease then tells by itself. */
const LEAVE_MS = 5000;

const SERVICES: GroupResource = { group: '', resource: 'services' };
const ENDPOINTS: GroupResource = { group: '', resource: 'endpoints' };
const SLICES: GroupResource = { group: 'discovery.k8s.io', resource: 'endpointslices' };

export interface KubernetesServiceOptions {
  readonly client: Client;
  readonly leases: ServerLeases;
  readonly service: ServiceShape;
  /** Where this server is reached; undefined: endpoints are not our business (--endpoint-reconciler-type=none). */
  readonly self: ServerAddress | undefined;
  readonly onError: (error: unknown) => void;
  readonly renewEveryMs?: number;
  readonly leaseMs?: number;
}

/**
 * Keeps service default/kubernetes, its Endpoints and its EndpointSlices true: every server says every few seconds that it
 * lives, and writes down who else does. A server that dies is taken out by the others, one that ends takes itself out.
 */
export class KubernetesService {
  readonly #options: KubernetesServiceOptions;
  readonly #client: Client;
  #left = false;
  readonly #ready = Promise.withResolvers<void>();
  /** Rounds take turns with leaving, so that no round begun before puts this server back. */
  #busy: Promise<void> = Promise.resolve();

  constructor(options: KubernetesServiceOptions) {
    this.#options = options;
    this.#client = options.client.as('kubernetes-service-controller');
  }

  /** Resolves when all has been true once. */
  ready(): Promise<void> {
    return this.#ready.promise;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { renewEveryMs = RENEW_EVERY_MS, onError } = this.#options;
    while (!signal.aborted) {
      await this.#inTurn(() => this.#round()).catch(onError);
      await pause(renewEveryMs, signal);
    }
  }

  /** To be called when the server begins to end, while it still serves: traffic goes elsewhere meanwhile. Never rejects. */
  async leave(): Promise<void> {
    const { self, leases, onError } = this.#options;
    this.#left = true;
    if (self === undefined) return;
    const left = this.#inTurn(async () => this.#write(await leases.release(self), self)).catch(onError);
    await Promise.race([left, new Promise((resolve) => setTimeout(resolve, LEAVE_MS).unref())]);
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#busy.then(work);
    this.#busy = turn.catch(() => {});
    return turn;
  }

  async #round(): Promise<void> {
    const { service, self, leases, leaseMs = LEASE_MS } = this.#options;
    if (this.#left) return;
    await this.#client.ensure(SERVICES, toService(service));
    if (self !== undefined) await this.#write(await leases.renew(self, leaseMs), self);
    this.#ready.resolve();
  }

  async #write(servers: readonly ServerAddress[], self: ServerAddress): Promise<void> {
    await this.#put(ENDPOINTS, toEndpoints(servers), ['subsets']);
    const wanted = toEndpointSlices(servers, self);
    for (const slice of wanted) await this.#put(SLICES, slice, ['endpoints', 'ports', 'addressType']);
    await this.#dropOtherSlices(new Set(wanted.map(({ metadata }) => metadata.name ?? '')));
  }

  /** Writes only what differs: most rounds find everything as it should be. */
  async #put(resource: GroupResource, wanted: ApiObject, fields: readonly string[]): Promise<void> {
    const { namespace = '', name = '' } = wanted.metadata;
    const mend = (current: ApiObject): ApiObject | undefined => {
      const labels = { ...current.metadata.labels, ...wanted.metadata.labels };
      const isSame = fields.every((field) => equal(current[field] ?? [], wanted[field] ?? []));
      if (isSame && equal(labels, current.metadata.labels ?? {})) return undefined;
      const values = Object.fromEntries(fields.map((field) => [field, structuredClone(wanted[field] ?? [])]));
      return { ...current, metadata: { ...current.metadata, labels }, ...values };
    };
    const current = await this.#client.get(resource, { namespace, name });
    // The family of a slice cannot change.
    if (current !== undefined && current.addressType !== wanted.addressType)
      await this.#client.remove(resource, { namespace, name });
    else if (current !== undefined && mend(current) === undefined) return;
    await this.#client.ensure(resource, wanted, { mend });
  }

  /** Clients read all slices of a service: one that somebody else made for this one would add servers that are none. */
  async #dropOtherSlices(names: ReadonlySet<string>): Promise<void> {
    const namespace = SERVICE_NAMESPACE;
    for (const slice of await this.#client.list(SLICES, { namespace }, 'cached')) {
      const { name = '' } = slice.metadata;
      if (isServiceSlice(slice) && !names.has(name)) await this.#client.remove(SLICES, { namespace, name });
    }
  }
}
