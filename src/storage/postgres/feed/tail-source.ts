import type pg from 'pg';
import type { Queryable } from '../connection/prepared.ts';

/** The name of the host that takes writes. */
export const PRIMARY = 'primary';

/** A host that may give the tail its slot. */
export interface TailSource {
  /** {@link PRIMARY}, or `host:port`. */
  readonly name: string;
  readonly isStandby: boolean;
  /** @throws what the host says when it cannot be reached, and ReplicationDenied */
  clientConfig(): Promise<pg.ClientConfig>;
  /**
   * Checks the connection that is to stream, before its slot is made and after: a name may stand for several hosts.
   * @throws Error when its log is not the primary's
   */
  check(client: Queryable): Promise<void>;
  /** Calls `listener` when its stream must not be followed any more, though it may go on. Returns how to end that. */
  onReplaced?(listener: () => void): () => void;
}

export interface TailSources {
  readonly primary: TailSource;
  /** Read servers that are in service. */
  standbys(): readonly TailSource[];
}
