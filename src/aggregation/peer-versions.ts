import type { Registry } from '../registry/registry.ts';
import type { KnownPeer, Peer, Peers } from '../storage/peers.ts';
import { pause } from '../util/pause.ts';

/** Kubernetes' pace (controlplane, peer endpoint leases). */
const RENEW_MS = 10_000;
const TTL_MS = 30_000;

export interface PeerVersionsParts {
  readonly peers: Peers;
  readonly registry: Pick<Registry, 'groups' | 'resources'>;
  readonly self: Omit<Peer, 'resources'>;
  readonly onError: (error: unknown) => void;
}

export interface PeersOfResource {
  /** Empty: those that serve it are not there now. */
  readonly live: readonly KnownPeer[];
}

/** What the other servers of the cluster have built in, as new as the last time that this one said what it has. */
export class PeerVersions {
  readonly #parts: PeerVersionsParts;
  #known: ReadonlyMap<string, PeersOfResource> = new Map();

  constructor(parts: PeerVersionsParts) {
    this.#parts = parts;
  }

  /** Undefined: nobody serves it. */
  find(group: string, version: string, resource: string): PeersOfResource | undefined {
    return this.#known.get(toName(group, version, resource));
  }

  /** @throws StorageError and what PostgreSQL says */
  async renew(): Promise<void> {
    const { peers, registry, self } = this.#parts;
    const known = await peers.renew({ ...self, resources: builtIn(registry) }, TTL_MS);
    const byName = new Map<string, { live: KnownPeer[] }>();
    for (const peer of known)
      for (const name of peer.resources) {
        const entry = byName.get(name) ?? { live: [] };
        if (peer.isLive) entry.live.push(peer);
        byName.set(name, entry);
      }
    this.#known = byName;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { peers, self, onError } = this.#parts;
    while (!signal.aborted) {
      await pause(RENEW_MS, signal);
      if (!signal.aborted) await this.renew().catch(onError);
    }
    await peers.release(self.server).catch(onError);
  }
}

const toName = (group: string, version: string, resource: string): string =>
  `${group}/${version}/${resource}`;

/** Custom resources are the same for all servers of a cluster. */
const builtIn = (registry: Pick<Registry, 'groups' | 'resources'>): string[] =>
  registry.groups().flatMap(({ group, versions }) =>
    versions.flatMap((version) =>
      registry
        .resources(group, version)
        .filter(({ definition }) => definition.custom === undefined)
        .map(({ definition }) => toName(group, version, definition.resource)),
    ),
  );
