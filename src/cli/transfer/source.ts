import type { GroupResource } from '../../api/names.ts';
import type { JsonObject } from '../../api/object-meta.ts';

/** Objects of one resource, or of several in the order of writes. */
export interface SourcePart {
  readonly label: string;
  readonly objects: readonly JsonObject[];
  /** How many more the part is known to have. */
  readonly remaining: number;
}

/** What a source says of a change. */
export interface SourceChange {
  readonly kind: 'put' | 'removed';
  readonly object: JsonObject;
}

/** Source is a cluster to take objects from. */
export interface Source {
  /** What the source keeps and does not give, with the reasons. */
  readonly leftOut: readonly string[];
  /** In the order of writes, definitions first. */
  read(): AsyncGenerator<SourcePart>;
  /** Whether the source was read for objects of the resource. */
  covers(resource: GroupResource): boolean;
  /** All changes after `read`, until the signal aborts; undefined: this kind of source cannot be followed. */
  readonly follow?: (signal: AbortSignal) => AsyncGenerator<SourceChange>;
  /** The history of an export. */
  readonly historyFile?: string;
  close(): Promise<void>;
}
