/**
 * What a run leaves to be judged: what clients saw, what the database has at the end, and what was done to it. Times are
 * milliseconds of one monotonic clock. Revisions of the log are bigints; 0n stands for "no object".
 *
 * Each operation sends its id as its user agent, which the log keeps, and as the object's holder: so a row, an object and an
 * event say whose they are.
 */
export interface Record {
  readonly operations: readonly Operation[];
  readonly watches: readonly WatchSession[];
  /** What history showed: of rows, of states, and of the authors of fields. */
  readonly answers: readonly HistoryAnswer[];
  readonly pasts: readonly Past[];
  readonly blames: readonly Blamed[];
  /** While rows of the log were dated wrongly. */
  readonly wrongClocks: readonly (readonly [fromMs: number, toMs: number])[];
  /**
   * While two primaries took writes, until servers must have noticed: the order between the writes of one and the other is not judged
   * then. Every other promise holds.
   */
  readonly splits: readonly (readonly [fromMs: number, toMs: number])[];
  /** What the database's clock said when ours was at 0. */
  readonly originMs: number;
  /** In the order of revisions; only the keys of the run. */
  readonly log: readonly LogRow[];
  readonly epochs: readonly Epoch[];
  readonly promotions: readonly Promotion[];
  readonly compacted: bigint;
  /** By the database's clock. */
  readonly compactedAtMs: number;
  /** What each server answered when all was over and well: the list of all keys. */
  readonly finalLists: readonly { readonly server: number; readonly items: readonly Item[] }[];
  /** The newest revision of the keys, which every watch must have reached in the end. */
  readonly watchersMustReach: bigint;
}

export type OperationKind = 'create' | 'update' | 'patch' | 'delete' | 'get' | 'list';

export interface Operation {
  readonly id: string;
  readonly kind: OperationKind;
  readonly server: number;
  /** '' for lists. */
  readonly key: string;
  readonly invokedMs: number;
  readonly completedMs: number;
  /** The resourceVersion a write was guarded with. */
  readonly expected?: bigint;
  readonly outcome: Outcome;
}

export type Outcome =
  /** A write was acknowledged; deletes do not say their revision. */
  | { readonly kind: 'written'; readonly revision: bigint | undefined }
  | { readonly kind: 'found'; readonly revision: bigint; readonly op: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'listed'; readonly revision: bigint; readonly items: readonly Item[] }
  /** It says that nothing has happened: 4xx, or an answer that asks to be repeated. */
  | { readonly kind: 'refused'; readonly why: string }
  /** There was no connection to ask over. */
  | { readonly kind: 'not sent'; readonly why: string }
  /** It may have happened or not. */
  | { readonly kind: 'unknown'; readonly why: string };

export interface Item {
  readonly key: string;
  readonly revision: bigint;
  readonly op: string;
}

export interface LogRow extends Item {
  readonly verb: 'create' | 'update' | 'delete';
  readonly previous: bigint | undefined;
  readonly committedAtMs: number;
  readonly user: string;
}

export interface Epoch {
  readonly after: bigint;
  readonly beganAtMs: number;
  readonly reason: string;
}

/** A standby became the primary. Between the two moments there was none. */
export interface Promotion {
  readonly beganMs: number;
  readonly doneMs: number;
  /** The standby was known not to have everything that was acknowledged. */
  readonly mayLose: boolean;
  /** Or a client had ended the wait for it, so that PostgreSQL showed what it had not. */
  readonly mayLoseShown: boolean;
  /** The newest revision that survived, and the epoch that began. */
  readonly survived: bigint;
  readonly epoch: bigint;
}

/** Which rows of the keys; absent: any. */
export interface Filter {
  readonly key?: string;
  readonly verb?: LogRow['verb'];
}

export const passes = (
  { key, verb }: Filter,
  row: { readonly key: string; readonly verb: string },
): boolean => (key === undefined || key === row.key) && (verb === undefined || verb === row.verb);

/** A list of revisions, the newest first, or a timeline, the oldest first: all pages, each from any server. */
export interface HistoryAnswer {
  readonly what: 'revisions' | 'timeline';
  readonly name: string;
  readonly filter: Filter;
  readonly invokedMs: number;
  readonly completedMs: number;
  /** As of which the first page was. */
  readonly revision: bigint;
  /** In their order. */
  readonly rows: readonly HistoryRow[];
  /** `all`: to the end of history; `gone`: until a 410; `failed`: until something that says nothing. */
  readonly end: 'all' | 'gone' | 'failed';
}

export interface HistoryRow {
  readonly revision: bigint;
  readonly key: string;
  readonly verb: LogRow['verb'];
  readonly user: string;
  /** Timelines tell neither. */
  readonly op?: string;
  readonly previous?: bigint;
}

/** What the keys were, as of a revision or of a moment of the database's clock. */
export interface Past {
  readonly name: string;
  readonly asOf: { readonly revision: bigint } | { readonly atMs: number };
  readonly invokedMs: number;
  readonly completedMs: number;
  readonly outcome: Extract<Outcome, { kind: 'listed' }> | { readonly kind: 'gone' };
}

/** Who set the field in which each write leaves its id. */
export interface Blamed {
  readonly name: string;
  /** The state that was looked at, and the id in it. */
  readonly revision: bigint;
  readonly op: string;
  /** Undefined: no author was named. */
  readonly setBy: { readonly revision: bigint; readonly user: string } | undefined;
}

export interface WatchSession {
  readonly watcher: string;
  /** The changes that it asked for. */
  readonly filter: Filter;
  readonly server: number;
  readonly from: bigint;
  readonly openedMs: number;
  readonly seen: readonly Seen[];
  readonly end: WatchEnd;
  readonly endedMs: number;
}

/** `stopped`: by us, when the run was over. */
export type WatchEnd = 'gone' | 'closed' | 'failed' | 'stopped';

export type Seen =
  | { readonly type: 'bookmark'; readonly revision: bigint; readonly atMs: number }
  | {
      readonly type: 'added' | 'modified' | 'deleted';
      readonly revision: bigint;
      readonly key: string;
      readonly op: string;
      readonly atMs: number;
    };

export interface Finding {
  /** The promise that was broken. */
  readonly rule: string;
  /** The shortest facts that show it. */
  readonly facts: string;
}

/** Whether some of it happened while there were two primaries. */
export const isInSplit = (
  { splits }: Pick<Record, 'splits'>,
  { invokedMs, completedMs }: Pick<Operation, 'invokedMs' | 'completedMs'>,
): boolean => splits.some(([fromMs, toMs]) => completedMs >= fromMs && invokedMs <= toMs);

export const isWrite = ({ kind }: Operation): boolean => kind !== 'get' && kind !== 'list';

export function describeOperation(of: Operation): string {
  const guard = of.expected === undefined ? '' : ` expecting ${of.expected}`;
  const time = `${(of.invokedMs / 1000).toFixed(3)}–${(of.completedMs / 1000).toFixed(3)} s`;
  return `${of.id} (${of.kind} ${of.key}${guard}, server ${of.server}, ${time}: ${describeOutcome(of.outcome)})`;
}

function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'written':
      return `acknowledged${outcome.revision === undefined ? '' : ` at ${outcome.revision}`}`;
    case 'found':
      return `found ${outcome.op} at ${outcome.revision}`;
    case 'absent':
      return 'not there';
    case 'listed':
      return `${outcome.items.length} items at ${outcome.revision}`;
    case 'refused':
    case 'not sent':
    case 'unknown':
      return `${outcome.kind}, ${outcome.why}`;
  }
}
