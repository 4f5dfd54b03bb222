import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { PoolValue } from '../../allocations.ts';
import { NO_REVISION, type Revision, toRevision } from '../../revision.ts';
import type { Write } from '../../revision-log.ts';
import type { Connection } from '../connection/connection.ts';
import type { Queryable } from '../connection/prepared.ts';
import { withoutWarning } from '../connection/statements.ts';
import type { KnownRow } from '../fencing/known-row.ts';
import { FIND_WRITES } from '../read/queries.ts';
import { BYTEA, type ElementType, INT8, JSON_TEXT, TEXT, TIMESTAMPTZ, UUID } from './binary-arrays.ts';
import { CallMessages } from './call-messages.ts';
import { HOLDING, PLAIN } from './commit-functions.ts';
import { call, type TextFields } from './send-call.ts';

/** A write on its way, with the id that finds it again when the answer to its commit is lost. */
export interface PendingWrite {
  readonly id: string;
  readonly write: Write;
  /** Its caller is answered by then, in epoch milliseconds. */
  readonly deadlineMs: number;
  /** Whether PostgreSQL may have made it, or may still make it. */
  isSent: boolean;
  /** It was resolved or rejected. */
  isAnswered: boolean;
  resolve(revision: Revision): void;
  reject(error: unknown): void;
}

export function toPendingWrite(
  write: Write,
  patienceMs: number,
  settle: Pick<PendingWrite, 'resolve' | 'reject'>,
): PendingWrite {
  const deadlineMs = Date.now() + patienceMs;
  return { id: randomUUID(), write, deadlineMs, isSent: false, isAnswered: false, ...settle };
}

export type CommitOutcome =
  | { readonly accepted: Revision }
  /** The live object's revision, or undefined when there is no live object. */
  | { readonly refused: Revision | undefined }
  /** Another object holds a value it claimed. */
  | { readonly taken: PoolValue }
  /** The resource is in another database, or is about to be. */
  | { readonly moved: true };

/** The live revision of a write that was refused because its resource moves. */
const MOVED = -1n;

/** Writes one array per column, in the order of commit_revisions. */
function writeColumns(messages: CallMessages, batch: readonly PendingWrite[]): void {
  const column = <Value>(
    type: ElementType<Value>,
    toValue: (pending: PendingWrite) => Value | undefined,
  ): void => messages.array(type, batch.map(toValue));
  column(JSON_TEXT, ({ write }) => (write.encoded === undefined ? write.json : undefined));
  column(TEXT, ({ write }) => write.verb);
  column(TEXT, ({ write }) => write.key.group);
  column(TEXT, ({ write }) => write.key.resource);
  column(TEXT, ({ write }) => write.key.namespace);
  column(TEXT, ({ write }) => write.key.name);
  column(TEXT, ({ write }) => write.uid);
  column(INT8, ({ write }) => write.expected ?? NO_REVISION);
  column(UUID, ({ id }) => id);
  column(TIMESTAMPTZ, ({ write }) => write.expiresAt);
  for (const name of ATTRIBUTIONS) column(TEXT, ({ write }) => withoutNul(write.attribution[name]));
}

/** Writes two nulls where all is JSON, as nearly always. */
function writeEncodings(messages: CallMessages, batch: readonly PendingWrite[]): void {
  if (batch.every(({ write }) => write.encoded === undefined)) {
    for (const type of [BYTEA, BYTEA]) messages.scalar(type, undefined);
    return;
  }
  messages.array(
    BYTEA,
    batch.map(({ write }) => write.encoded?.bytes),
  );
  messages.array(
    TEXT,
    batch.map(({ write }) => write.encoded?.mediaType),
  );
}

/** What the function compares with the log. */
interface CommitWitness {
  readonly seen: KnownRow | undefined;
  readonly now: Date;
}

function writeWitness(messages: CallMessages, { seen, now }: CommitWitness): void {
  messages.scalar(INT8, seen?.revision);
  messages.scalar(UUID, seen?.writeId);
  messages.scalar(TIMESTAMPTZ, now);
}

const ATTRIBUTIONS = ['username', 'userAgent', 'sourceAddress', 'requestId', 'fieldManager'] as const;

/** PostgreSQL's text cannot hold NUL, and callers choose these values. */
function withoutNul(value: string): string {
  return value.includes('\0') ? value.replaceAll('\0', '') : value;
}

/** BatchCommit commits batches over one connection, in turn. */
export class BatchCommit {
  readonly #connection: Connection;
  #messages = new CallMessages();

  /** @throws what PostgreSQL or the network said */
  static async prepare(connection: Connection): Promise<BatchCommit> {
    const statements = [PLAIN, HOLDING].map(({ name, text }) => `PREPARE ${name} AS ${text}`);
    if (connection.prepares) await connection.client.query(statements.join('; '));
    return new BatchCommit(connection);
  }

  private constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Commits in one call, one transaction, one fsync. Outcomes are in the order of the batch.
   * @throws UncertainCommit, and what PostgreSQL or the network said
   */
  async commit(
    batch: readonly PendingWrite[],
    witness: CommitWitness,
    timeoutMs?: number,
  ): Promise<CommitOutcome[]> {
    const { client, prepares } = this.#connection;
    const isHolding = batch.some(({ write }) => write.holds !== undefined);
    const { name, text, values } = isHolding ? HOLDING : PLAIN;
    this.#messages.begin(prepares ? { name } : { text }, values);
    writeColumns(this.#messages, batch);
    writeWitness(this.#messages, witness);
    writeEncodings(this.#messages, batch);
    if (isHolding) this.#messages.text(JSON.stringify(batch.map(({ write }) => write.holds ?? null)));
    const sent = (): Promise<TextFields | undefined> => call(client, this.#messages.end(), timeoutMs);
    const row = await withoutWarning(client, sent).catch((error: unknown) => {
      // The end of refused messages may still be on its way.
      this.#messages = new CallMessages();
      throw error;
    });
    return row === undefined ? [] : toOutcomes(row);
  }
}

function toOutcomes([accepted, live, taken]: TextFields): CommitOutcome[] {
  const lives = parseRevisions(live);
  const outcomes = parseRevisions(accepted).map((revision, at): CommitOutcome => {
    if (revision !== undefined) return { accepted: revision };
    return lives[at] === MOVED ? { moved: true } : { refused: lives[at] };
  });
  for (const { ordinal, pool, value } of parseTaken(taken))
    outcomes[ordinal - 1] = { taken: { pool, value } };
  return outcomes;
}

/** A bigint[] as text: `{7,NULL,9}`. */
function parseRevisions(text: string | null | undefined): (Revision | undefined)[] {
  return (text ?? '{}')
    .slice(1, -1)
    .split(',')
    .map((element) => (element === 'NULL' ? undefined : toRevision(element)));
}

function parseTaken(text: string | null | undefined): (PoolValue & { readonly ordinal: number })[] {
  return JSON.parse(text ?? '[]');
}

/**
 * Finds writes whose answer was lost. Commits under way have ended when the log is searched; the caller makes sure that the old
 * connection cannot start another. Found writes are as durable as acknowledged ones.
 * @throws UncertainCommit and what PostgreSQL or the network said
 */
export async function findWrites(
  { client }: Connection,
  ids: readonly string[],
  after: Revision,
): Promise<Map<string, Revision>> {
  const impatient: Queryable = {
    query: <Row extends pg.QueryResultRow>(query: pg.QueryConfig) =>
      client.query<Row>({ ...query, ...FIND_TIMEOUT }),
  };
  const found = (): Promise<FoundRow[]> => FIND_WRITES.run(impatient, { after: after.toString(), ids });
  const rows = await withoutWarning(client, found);
  return new Map(rows.map((row) => [row.write_id, toRevision(row.revision)]));
}

/** The search may wait for a standby as the commit did; the caller checks the time in between. */
const FIND_TIMEOUT = { query_timeout: 5000 };

interface FoundRow {
  readonly write_id: string;
  readonly revision: string;
}

/** Returns the keys that a batch may hold only once: the object's, and the values the write claims. */
export function toBatchKeys({ key, holds = [] }: Write): string[] {
  const { group, resource, namespace, name } = key;
  const claims = holds.filter(({ kept }) => !kept).map(({ pool, value }) => `${pool}\0${value}`);
  return [`${group}\0${resource}\0${namespace}\0${name}`, ...claims];
}
