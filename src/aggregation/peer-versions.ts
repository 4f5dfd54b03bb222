import type { Registry } from '../registry/registry.ts';
import type { KnownPeer, Peer, Peers } from '../storage/peers.ts';
import { pause, repeat } from '../util/pause.ts';

/** Kubernetes' pace (controlplane, peer endpoint leases). */
const RENEW_MS = 10_000;
const TTL_MS = 30_000;

interface PeerVersionsParts {
  readonly peers: Peers;
  readonly registry: Pick<Registry, 'groups' | 'resources'>;
  readonly self: Omit<Peer, 'resources'>;
  readonly onError: (error: unknown) => void;
}

interface PeersOfResource {
  /** Empty: no server with the resource is alive. */
  readonly live: readonly KnownPeer[];
}

/** The built-in resources of the cluster's other servers, as of this server's last renewal. */
export class PeerVersions {
  readonly #parts: PeerVersionsParts;
  #known: ReadonlyMap<string, PeersOfResource> = new Map();
  #all: readonly KnownPeer[] = [];

  constructor(parts: PeerVersionsParts) {
    this.#parts = parts;
  }

  /** The other servers, as of the last renewal. */
  get all(): readonly KnownPeer[] {
    return this.#all;
  }

  /** Undefined: no server has it. */
  find(group: string, version: string, resource: string): PeersOfResource | undefined {
    return this.#known.get(toName(group, version, resource));
  }

  /** @throws StorageError and PostgreSQL's errors */
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
    this.#all = known;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { peers, self, onError } = this.#parts;
    await pause(RENEW_MS, signal);
    await repeat(() => this.renew(), signal, { everyMs: RENEW_MS, onError });
    await peers.release(self.server).catch(onError);
  }
}

const toName = (group: string, version: string, resource: string): string =>
  `${group}/${version}/${resource}`;

/** Excludes custom resources, which all servers of a cluster share. */
const builtIn = (registry: Pick<Registry, 'groups' | 'resources'>): string[] =>
  registry.groups().flatMap(({ group, versions }) =>
    versions.flatMap((version) =>
      registry
        .resources(group, version)
        .filter(({ definition }) => definition.custom === undefined)
        .map(({ definition }) => toName(group, version, definition.resource)),
    ),
  );
