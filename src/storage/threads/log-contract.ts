import type { GroupResource } from '../../api/names.ts';
import type { PortCaller } from '../../util/port-calls.ts';
import type { Allocations, PoolValue } from '../allocations.ts';
import type { History, LogPage, LogQuery } from '../history.ts';
import type { ObjectKey } from '../key.ts';
import type { Revision } from '../revision.ts';
import type {
  Change,
  ChangeQuery,
  ChangeWithPrevious,
  HistoricalList,
  HistoricalPage,
  PackedObjects,
  StoredObject,
  Write,
} from '../revision-log.ts';

/** What the thread of a log answers to a serving thread. `load` is the number of a load, by which late messages of another are known. */
export interface LogService {
  commit(write: Write, caller: PortCaller): Promise<Revision>;
  /** For so many reads. */
  currentRevision(reads: number): Promise<Revision>;
  compactedRevision(resource: GroupResource | undefined): Promise<Revision>;
  get(key: ObjectKey): Promise<StoredObject | undefined>;
  listAt(query: HistoricalList): Promise<HistoricalPage>;
  changesBetween(query: ChangeQuery): Promise<ChangeWithPrevious[]>;
  hurry(argument: undefined): void;
  /** Sends the state and, from then on, each change after it, until its history is over. Resolves when the state is sent. */
  load(load: number): Promise<void>;
  revisionAt(moment: string): ReturnType<History['revisionAt']>;
  begin(argument: undefined): ReturnType<History['begin']>;
  newest(argument: undefined): Promise<Revision>;
  rows(query: LogQuery): Promise<LogPage>;
  held(pool: string): ReturnType<Allocations['held']>;
  holder(value: PoolValue): ReturnType<Allocations['holder']>;
  isOutdated(asked: { readonly resource: GroupResource; readonly storedAs: string | undefined }): boolean;
}

/** What a serving thread hears of the log. */
export interface LogHearing {
  began(begun: { readonly load: number; readonly revision: Revision }): void;
  objects(some: { readonly load: number; readonly objects: readonly StoredObject[] }): void;
  changes(some: { readonly load: number; readonly changes: readonly Change[] }): void;
  /** In the order of the changes. */
  packed(some: { readonly load: number; readonly packed: PackedObjects }): void;
  /** The history that the load began with is gone. */
  over(one: { readonly load: number; readonly reason: 'compacted' | 'rewound' }): void;
}
