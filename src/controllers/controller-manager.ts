import { LEASES } from '../api/known-resources.ts';
import type { ApiObject } from '../api/object-meta.ts';
import type { Lease } from '../api/types/coordination/v1.ts';
import type { Client } from '../verbs/client/client.ts';

/** The leases by which a controller manager elects its leader, in the system namespace of either dialect. */
const NAMES = [
  { namespace: 'kube-system', name: 'kube-controller-manager' },
  { namespace: 'cluster-system', name: 'kube-controller-manager' },
];
/** Duration of a lease that names none: the default of client-go. */
const DEFAULT_SECONDS = 15;

/** A state of a lease, and when this server first saw it. */
interface Sighting {
  readonly resourceVersion: ApiObject['metadata']['resourceVersion'];
  readonly atMs: number;
}

/**
 * Detects whether a controller manager is running, by its lease. Its clock may differ from ours, so this counts from when this
 * server saw the lease change, as client-go's leader election does (tools/leaderelection).
 */
export class ControllerManager {
  readonly #client: Client;
  readonly #now: () => number;
  readonly #sightings = new Map<string, Sighting>();

  /** `now` is a clock that never jumps, in milliseconds. */
  constructor({ client, now }: { readonly client: Client; readonly now: () => number }) {
    this.#client = client;
    this.#now = now;
  }

  /** Call it every few seconds. A lease seen for the first time counts as just renewed. @throws StorageError */
  async isAtWork(): Promise<boolean> {
    const found = await Promise.all(
      NAMES.map(async (name) => this.#isHeld(name.namespace, await this.#client.get(LEASES, name, 'cached'))),
    );
    return found.includes(true);
  }

  #isHeld(namespace: string, lease: Lease | undefined): boolean {
    const { holderIdentity = '', leaseDurationSeconds = DEFAULT_SECONDS } = lease?.spec ?? {};
    if (lease === undefined || holderIdentity === '') return false;
    const { resourceVersion } = lease.metadata;
    const known = this.#sightings.get(namespace);
    const isNew = known === undefined || known.resourceVersion !== resourceVersion;
    const sighting = isNew ? { resourceVersion, atMs: this.#now() } : known;
    this.#sightings.set(namespace, sighting);
    return this.#now() < sighting.atMs + leaseDurationSeconds * 1000;
  }
}
