/** Where the cluster reaches one server. */
export interface ServerAddress {
  readonly address: string;
  readonly port: number;
}

/** ServerLeases records which servers of the cluster live. It is stored with the objects, which servers share. */
export interface ServerLeases {
  /** Renews a server's lease for `ttlMs` from now; returns all live servers, sorted. */
  renew(server: ServerAddress, ttlMs: number): Promise<ServerAddress[]>;
  /** Ends a server's lease; returns the live servers. */
  release(server: ServerAddress): Promise<ServerAddress[]>;
}
