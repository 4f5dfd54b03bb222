/** A server as the others of its cluster know it. */
export interface Peer {
  /** Unique to one start of one server. */
  readonly server: string;
  readonly address: string;
  readonly port: number;
  /** Built-in resources: `group/version/resource`. */
  readonly resources: readonly string[];
}

export interface KnownPeer extends Peer {
  /** Whether it has renewed lately. */
  readonly isLive: boolean;
}

/** Peers records which servers of the cluster serve what. It is stored with the objects, which all servers share. */
export interface Peers {
  /** Renews what a server serves, for `ttlMs` from now; returns all others. */
  renew(self: Peer, ttlMs: number): Promise<KnownPeer[]>;
  /** Removes a server that has ended. */
  release(server: string): Promise<void>;
}
