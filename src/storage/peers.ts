/** A server as the others of its cluster know it. */
export interface Peer {
  /** Tells one start of one server from all others. */
  readonly server: string;
  readonly address: string;
  readonly port: number;
  /** What it has built in: `group/version/resource`. */
  readonly resources: readonly string[];
}

export interface KnownPeer extends Peer {
  /** Whether it has said lately that it is there. */
  readonly isLive: boolean;
}

/** Which servers of the cluster serve what. Implemented where the objects are stored, because that is what they share. */
export interface Peers {
  /** Says what a server serves, for `ttlMs` from now; answers all others. */
  renew(self: Peer, ttlMs: number): Promise<KnownPeer[]>;
  /** Says that a server has ended. */
  release(server: string): Promise<void>;
}
