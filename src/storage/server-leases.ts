/** Where one server is reached by the cluster. */
export interface ServerAddress {
  readonly address: string;
  readonly port: number;
}

/** Which servers of the cluster live. Implemented where the objects are stored, because that is what they share. */
export interface ServerLeases {
  /** Says that a server lives, for `ttlMs` from now; answers all that do, sorted. */
  renew(server: ServerAddress, ttlMs: number): Promise<ServerAddress[]>;
  /** Says that a server does not live any more; answers those that do. */
  release(server: ServerAddress): Promise<ServerAddress[]>;
}
