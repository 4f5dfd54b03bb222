import type { GroupResource } from '../api/names.ts';
import type { Revision } from './revision.ts';

/**
 * The resource whose objects say which resources are moved to databases of their own (storage/postgres/moving/move.ts). It is in the
 * log alone, so that all servers learn of a move at the same revision; no API serves it.
 */
export const MOVES: GroupResource = { group: 'storage.cluster.io', resource: 'moves' };

/** An object of {@link MOVES}, as far as servers read it. */
export interface Move {
  readonly id: string;
  readonly resource: GroupResource;
  /** `Moved`: the resource is in its own database since the revision of this object. */
  readonly phase: 'Copying' | 'Moved' | 'Cancelled';
}

/** @throws Error for an object that is no move */
export function parseMove(json: Buffer): Move {
  const { metadata, spec, status } = JSON.parse(json.toString());
  const { phase } = status;
  if (phase !== 'Copying' && phase !== 'Moved' && phase !== 'Cancelled')
    throw new Error(`a move is in the phase ${JSON.stringify(phase)}, which this version does not know`);
  return { id: metadata.uid, resource: { group: spec.group, resource: spec.resource }, phase };
}

/** What a server makes of a move. */
export interface MoveReport {
  /** Why it cannot use the new database; '' when it can. */
  readonly trouble: string;
  /** It serves the resource from there. */
  readonly isMoved: boolean;
}

/** Moves in one database: that from which a resource goes, or that to which it comes. */
export interface Moves {
  /** Returns the URLs of the database that a move leads to; undefined for one that was cancelled. */
  targetOf(move: string): Promise<readonly string[] | undefined>;
  /** Says what this server makes of a move. Returns false while the server is no witness of the log, and cannot. */
  report(move: string, report: MoveReport): Promise<boolean>;
  /** Returns which move led here; undefined when none did. */
  arrival(): Promise<Arrival | undefined>;
  /**
   * Begins to serve the resource from here, after the revision of the cut-over. Harmless when that was done. Returns the attempt at
   * the copy.
   */
  arrive(move: string, cut: Revision): Promise<number>;
}

/** How far a resource has come. */
export interface Arrival {
  readonly move: string;
  /** Rises when the copy begins anew. */
  readonly attempt: number;
  /** All is here but what is written meanwhile. */
  readonly isCopied: boolean;
  /** The resource is served from here. */
  readonly isComplete: boolean;
}
