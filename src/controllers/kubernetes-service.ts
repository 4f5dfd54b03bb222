import type { GroupResource } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import { StatusError } from '../api/status.ts';
import { parseStored } from '../codec/stored-object.ts';
import { equal } from '../object/equality.ts';
import type { Registry } from '../registry/registry.ts';
import type { ServerAddress, ServerLeases } from '../storage/server-leases.ts';
import type { Store } from '../storage/store.ts';
import { pause } from '../util/pause.ts';
import type { WriteContext } from '../verbs/writing/change.ts';
import type { ObjectWriter } from '../verbs/writing/writer.ts';
import { DELETE_NOW } from './delete-now.ts';
import type { ControllerIdentity } from './identity.ts';
import {
  isServiceSlice,
  SERVICE_NAME,
  SERVICE_NAMESPACE,
  type ServiceShape,
  toEndpointSlices,
  toEndpoints,
  toService,
} from './kubernetes-endpoints.ts';

const RENEW_EVERY_MS = 5000;
/** A server that has missed two renewals counts as dead. */
const LEASE_MS = 12_000;

/** Limit for leaving. Without the database the lease just expires. */
const LEAVE_MS = 5000;

const SERVICES: GroupResource = { group: '', resource: 'services' };
const ENDPOINTS: GroupResource = { group: '', resource: 'endpoints' };
const SLICES: GroupResource = { group: 'discovery.k8s.io', resource: 'endpointslices' };

export interface KubernetesServiceOptions {
  readonly store: Store;
  readonly registry: Registry;
  readonly writer: ObjectWriter;
  readonly identity: ControllerIdentity;
  readonly leases: ServerLeases;
  readonly service: ServiceShape;
  /** The address of this server; undefined: this server does not maintain endpoints (--endpoint-reconciler-type=none). */
  readonly self: ServerAddress | undefined;
  readonly onError: (error: unknown) => void;
  readonly renewEveryMs?: number;
  readonly leaseMs?: number;
}

/**
 * Maintains service default/kubernetes, its Endpoints and its EndpointSlices: every server renews its lease every few seconds, and
 * writes the addresses of all servers with a lease. The others remove a server that dies; a server that ends removes itself.
 */
export class KubernetesService {
  readonly #options: KubernetesServiceOptions;
  #left = false;
  readonly #ready = Promise.withResolvers<void>();
  /** Rounds and leaving exclude each other, so that no earlier round adds this server again. */
  #busy: Promise<void> = Promise.resolve();

  constructor(options: KubernetesServiceOptions) {
    this.#options = options;
  }

  /** Resolves after the first successful round. */
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

  /** To be called when the server starts to end, while it still serves, so that traffic moves elsewhere. Never rejects. */
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
    const { self, leases, leaseMs = LEASE_MS } = this.#options;
    if (this.#left) return;
    await this.#ensureService();
    if (self !== undefined) await this.#write(await leases.renew(self, leaseMs), self);
    this.#ready.resolve();
  }

  async #ensureService(): Promise<void> {
    const { service } = this.#options;
    if ((await this.#read(SERVICES, SERVICE_NAME)) !== undefined) return;
    await this.#ignoring('AlreadyExists', () =>
      this.#options.writer.create(this.#context(SERVICES), toService(service)),
    );
  }

  async #write(servers: readonly ServerAddress[], self: ServerAddress): Promise<void> {
    await this.#put(ENDPOINTS, toEndpoints(servers), ['subsets']);
    const wanted = toEndpointSlices(servers, self);
    for (const slice of wanted) await this.#put(SLICES, slice, ['endpoints', 'ports', 'addressType']);
    await this.#dropOtherSlices(new Set(wanted.map(({ metadata }) => metadata.name ?? '')));
  }

  /** Writes only changed objects; most rounds find none. */
  async #put(resource: GroupResource, wanted: ApiObject, fields: readonly string[]): Promise<void> {
    const { writer } = this.#options;
    const name = wanted.metadata.name ?? '';
    const current = await this.#read(resource, name);
    if (current === undefined) {
      await this.#ignoring('AlreadyExists', () => writer.create(this.#context(resource), wanted));
      return;
    }
    if (current.addressType !== wanted.addressType) {
      await this.#remove(resource, name);
      await this.#ignoring('AlreadyExists', () => writer.create(this.#context(resource), wanted));
      return;
    }
    const labels = { ...current.metadata.labels, ...wanted.metadata.labels };
    const same = fields.every((field) => equal(current[field] ?? [], wanted[field] ?? []));
    if (same && equal(labels, current.metadata.labels ?? {})) return;
    await writer.update(this.#context(resource), name, {
      apply: (copy) => {
        for (const field of fields) copy[field] = structuredClone(wanted[field] ?? []);
        copy.metadata.labels = { ...copy.metadata.labels, ...wanted.metadata.labels };
        return copy;
      },
    });
  }

  /** Deletes slices that something else made for the service, because clients read all slices and would find wrong servers. */
  async #dropOtherSlices(names: ReadonlySet<string>): Promise<void> {
    const { store } = this.#options;
    const scope = { namespace: SERVICE_NAMESPACE };
    const { entries } = await store.list({ resource: SLICES, scope, freshness: { kind: 'any' }, limit: 0 });
    for (const entry of entries) {
      const slice = parseStored(entry.json);
      if (isServiceSlice(slice) && !names.has(entry.name)) await this.#remove(SLICES, entry.name);
    }
  }

  async #remove(resource: GroupResource, name: string): Promise<void> {
    await this.#ignoring('NotFound', () =>
      this.#options.writer.remove(this.#context(resource), name, DELETE_NOW),
    );
  }

  async #read(resource: GroupResource, name: string): Promise<ApiObject | undefined> {
    const key = { ...resource, namespace: SERVICE_NAMESPACE, name };
    const entry = await this.#options.store.get(key, { kind: 'latest' });
    return entry === undefined ? undefined : parseStored(entry.json);
  }

  #context(resource: GroupResource): WriteContext {
    const { registry, identity } = this.#options;
    const definition = registry.findStorage(resource);
    if (definition === undefined) throw new Error(`the registry has no ${resource.resource}`);
    return identity.context(definition, SERVICE_NAMESPACE);
  }

  async #ignoring(reason: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof StatusError) || error.status.reason !== reason) throw error;
    }
  }
}
