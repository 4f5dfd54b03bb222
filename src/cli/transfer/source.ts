import type { JsonObject } from '../../api/object-meta.ts';
import type { ObjectKey } from '../../storage/key.ts';
import type { SourceObject } from './shapes.ts';

/** Objects of one resource, or of several in the order of writes. */
export interface SourcePart<One extends SourceObject = SourceObject> {
  readonly label: string;
  readonly objects: readonly One[];
  /** Objects of earlier parts that the source has removed meanwhile. */
  readonly removed?: readonly JsonObject[];
  /** How many more the part is known to have; -1: they are counted already. */
  readonly remaining: number;
}

export interface Unread {
  readonly name: string;
  readonly reason: string;
}

/** What a source says of a change. */
export interface SourceChange {
  readonly kind: 'put' | 'removed';
  readonly object: JsonObject;
}

/** Source is a cluster to take objects from. */
export interface Source {
  /** Resources that the source keeps and does not give, with the reasons. */
  readonly leftOut: readonly string[];
  /** Objects that it has and that cannot be read. */
  readonly unread: readonly Unread[];
  /** The uids of all its objects, where they are known before the objects are read. */
  readonly uids?: ReadonlySet<string> | undefined;
  /** In the order of writes, definitions first. */
  read(): AsyncGenerator<SourcePart>;
  /** Whether the source would have shown this object. */
  covers(key: ObjectKey): boolean;
  /**
   * All changes after `read`, until the cut-over; then those that a last comparison with the source finds. Undefined: this kind of
   * source cannot be followed.
   */
  readonly follow?: (cutOver: AbortSignal) => AsyncGenerator<SourceChange>;
  /** It may have a part of a cluster only. */
  readonly isPartial: boolean;
  /** The history of an export. */
  readonly historyFile?: string;
  close(): Promise<void>;
}
