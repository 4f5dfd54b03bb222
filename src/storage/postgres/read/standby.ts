import { pause } from '../../../util/pause.ts';
import { type Revision, toRevision } from '../../revision.ts';
import type { Queryable } from '../connection/prepared.ts';
import type { KnownRow } from '../fencing/known-row.ts';
import { newestMigration } from '../migration/migration.ts';
import { LOG_POSITION } from './queries.ts';

/** Decides when a standby may answer for the primary: never with less than that has, and never from another history. */

/** Identifies a log: the same at the primary and all its standbys. */
export interface LogIdentity {
  /** PostgreSQL's identifier; null where it is withheld. */
  readonly system: string | null;
  readonly database: string;
  readonly log: string;
  readonly epoch: Revision;
  readonly timeline: string | null;
}

interface LogPosition extends LogIdentity {
  readonly isStandby: boolean;
  /** The timeline that it receives; null when none, or not known. */
  readonly follows: string | null;
  readonly migration: number;
  readonly compacted: Revision;
  /** Undefined: not as far as wanted. */
  readonly revision: Revision | undefined;
  /** The write id of the row that the primary is known to have. */
  readonly seenWrite: string | null;
}

export interface Wanted {
  /** Everything up to here must be there. */
  readonly upTo: Revision;
  /** Nothing after this may have been compacted. */
  readonly after: Revision;
}

/** What the primary is known to have. */
export interface KnownLog {
  readonly identity: LogIdentity;
  readonly seen: KnownRow | undefined;
}

export async function readPosition(client: Queryable, upTo: Revision, seen?: KnownRow): Promise<LogPosition> {
  const values = { wanted: upTo.toString(), seen: String(seen?.revision ?? 0) };
  const [row] = await LOG_POSITION.run(client, values);
  if (row === undefined) throw new Error('the database has no epoch: it is not one of pg-apiserver');
  const { system, database, log, timeline, follows } = row;
  const epoch = toRevision(row.epoch);
  const newest = row.revision === null ? epoch : toRevision(row.revision);
  return {
    ...{ system, database, log, timeline, follows, epoch },
    isStandby: row.is_standby === 't',
    migration: Number(row.migration),
    compacted: toRevision(row.compacted),
    revision: newest < upTo ? undefined : newest,
    seenWrite: row.seen_write,
  };
}

/** Returns why a host is ruled out regardless of its replay; undefined when it is not. */
export function findStrangeness(position: LogPosition, { identity, seen }: KnownLog): string | undefined {
  if (!position.isStandby) return 'it is no standby any more';
  const isOther = (['system', 'database', 'log'] as const).some((key) => position[key] !== identity[key]);
  if (isOther) return 'it has another database than the primary';
  const { follows, revision } = position;
  if (follows !== null && identity.timeline !== null && follows !== identity.timeline)
    return `it follows timeline ${follows}, and the primary is on ${identity.timeline}`;
  if (position.epoch > identity.epoch || (revision !== undefined && position.epoch < identity.epoch))
    return `its history began after revision ${position.epoch}, that of the primary after ${identity.epoch}`;
  return isOtherWrite(position, seen) ? `revision ${seen?.revision} is another write there` : undefined;
}

/** Rows above the compacted revision are never deleted: a missing one means another history. */
function isOtherWrite({ revision, compacted, seenWrite }: LogPosition, seen: KnownRow | undefined): boolean {
  if (seen?.writeId === undefined || seen.revision <= compacted) return false;
  if (seenWrite !== null) return seenWrite !== seen.writeId;
  return revision !== undefined && revision >= seen.revision;
}

/** Returns what a standby has yet to replay; undefined if nothing wanted. */
function findLag(position: LogPosition, { upTo }: Wanted): string | undefined {
  const migration = newestMigration();
  if (position.migration < migration) return `it has not replayed migration ${migration} yet`;
  return position.revision === undefined ? `it has not replayed revision ${upTo} yet` : undefined;
}

/** A standby in order is some milliseconds behind. One further behind is no help to a waiting read. */
const LAG_PATIENCE_MS = 300;
const LAG_POLL_MS = 20;

/**
 * Runs `work` on a snapshot of a standby that has what is wanted; waits for it a little. Returns undefined when the standby has
 * compacted history after `wanted.after`.
 * @throws Error, one line, when it may not answer; what `work` throws
 */
export async function onStandbySnapshot<Result>(
  client: Queryable,
  wanted: Wanted,
  { known, signal }: { readonly known: KnownLog; readonly signal: AbortSignal },
  work: (revision: Revision) => Promise<Result>,
): Promise<Result | undefined> {
  const untilMs = performance.now() + LAG_PATIENCE_MS;
  for (;;) {
    await client.query({ text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' });
    const position = await readPosition(client, wanted.upTo, known.seen);
    const strangeness = findStrangeness(position, known);
    if (strangeness !== undefined) throw new Error(strangeness);
    const lag = findLag(position, wanted);
    if (lag === undefined) {
      const isThere = wanted.after >= position.compacted;
      const result = isThere ? await work(position.revision ?? wanted.upTo) : undefined;
      await client.query({ text: 'COMMIT' });
      return result;
    }
    await client.query({ text: 'ROLLBACK' });
    if (signal.aborted || performance.now() >= untilMs) throw new Error(lag);
    await pause(LAG_POLL_MS, signal);
  }
}
