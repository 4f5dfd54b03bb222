import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { PoolValue } from '../allocations.ts';
import { StorageError } from '../errors.ts';
import { NO_REVISION, type Revision, toRevision } from '../revision.ts';
import type { Write } from '../revision-log.ts';
import { BYTEA, type ElementType, INT8, JSON_TEXT, TEXT, TIMESTAMPTZ, UUID } from './binary-arrays.ts';
import { call, type TextFields } from './call.ts';
import { CallMessages } from './call-messages.ts';
import { type CommitStatements, findCommitStatements } from './commit-functions.ts';
import type { Connection } from './connection.ts';
import type { KnownRow } from './known-row.ts';
import type { Queryable } from './prepared.ts';
import { FIND_WRITES } from './queries.ts';
import { withoutWarning } from './statements.ts';

/** A write on its way, with the id by which it is found again when the answer to its commit is lost. */
export interface PendingWrite {
  readonly id: string;
  readonly write: Write;
  /** The caller is answered by then, in epoch milliseconds. */
  readonly deadlineMs: number;
  /** Whether PostgreSQL may have made it, or may still make it. */
  isSent: boolean;
  /** Nobody waits for it any more. */
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
  /** A value it claimed is another object's. */
  | { readonly taken: PoolValue };

/** One array for each column, in the order of commit_revisions. */
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

/** Two nulls where all is JSON, as nearly always. */
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

/** What the function holds the log against. */
export interface CommitWitness {
  readonly seen: KnownRow | undefined;
  readonly now: Date;
}

function writeWitness(messages: CallMessages, { seen, now }: CommitWitness): void {
  messages.scalar(INT8, seen?.revision);
  messages.scalar(UUID, seen?.writeId);
  messages.scalar(TIMESTAMPTZ, now);
}

const ATTRIBUTIONS = ['username', 'userAgent', 'sourceAddress', 'requestId', 'fieldManager'] as const;

/** PostgreSQL's text does not hold it; callers choose what these say. */
function withoutNul(value: string): string {
  return value.includes('\0') ? value.replaceAll('\0', '') : value;
}

/** Commits batches over one connection, one after the other. */
export class BatchCommit {
  readonly #connection: Connection;
  #statements: CommitStatements;
  #messages = new CallMessages();

  /** @throws what PostgreSQL or the network said */
  static async prepare(connection: Connection): Promise<BatchCommit> {
    const statements = await findCommitStatements(connection.client);
    await prepareStatements(connection, statements);
    return new BatchCommit(connection, statements);
  }

  private constructor(connection: Connection, statements: CommitStatements) {
    this.#connection = connection;
    this.#statements = statements;
  }

  /**
   * One call, one transaction, one fsync. Outcomes are in the order of the batch.
   * @throws UncertainCommit, StorageError unavailable, and what PostgreSQL or the network said
   */
  async commit(
    batch: readonly PendingWrite[],
    witness: CommitWitness,
    timeoutMs?: number,
  ): Promise<CommitOutcome[]> {
    const { client, prepares } = this.#connection;
    const isHolding = batch.some(({ write }) => write.holds !== undefined);
    const isEncoded = batch.some(({ write }) => write.encoded !== undefined);
    if (isEncoded && !this.#statements.encodes) await this.#learnToEncode();
    const { encodes, plain, holding } = this.#statements;
    const { name, text, values } = isHolding ? holding : plain;
    this.#messages.begin(prepares ? { name } : { text }, values);
    writeColumns(this.#messages, batch);
    writeWitness(this.#messages, witness);
    if (encodes) writeEncodings(this.#messages, batch);
    if (isHolding) this.#messages.text(JSON.stringify(batch.map(({ write }) => write.holds ?? null)));
    const sent = (): Promise<TextFields | undefined> => call(client, this.#messages.end(), timeoutMs);
    const row = await withoutWarning(client, sent).catch((error: unknown) => {
      // The end of what PostgreSQL refused may still be on its way to it.
      this.#messages = new CallMessages();
      throw error;
    });
    return row === undefined ? [] : toOutcomes(row);
  }

  /** The migration may have come since. @throws StorageError unavailable */
  async #learnToEncode(): Promise<void> {
    const statements = await findCommitStatements(this.#connection.client);
    if (!statements.encodes) throw new StorageError({ kind: 'unavailable', reason: NO_ENCODINGS });
    await prepareStatements(this.#connection, statements);
    this.#statements = statements;
  }
}

const NO_ENCODINGS =
  'the schema takes objects in JSON alone until servers of the version before have ended and migration 51 was applied';

async function prepareStatements(
  { client, prepares }: Connection,
  { plain, holding }: CommitStatements,
): Promise<void> {
  const statements = [plain, holding].map(({ name, text }) => `PREPARE ${name} AS ${text}`);
  if (prepares) await client.query(statements.join('; '));
}

function toOutcomes([accepted, live, taken]: TextFields): CommitOutcome[] {
  const lives = parseRevisions(live);
  const outcomes = parseRevisions(accepted).map(
    (revision, at): CommitOutcome =>
      revision === undefined ? { refused: lives[at] } : { accepted: revision },
  );
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
 * What became of writes whose answer was lost. A commit that was still under way is over by the time the log is searched; the
 * caller has made sure that the old connection cannot start another. What is found is as durable as what is acknowledged.
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

/** It may wait for a standby as the commit did; the caller looks at the clock in between. */
const FIND_TIMEOUT = { query_timeout: 5000 };

interface FoundRow {
  readonly write_id: string;
  readonly revision: string;
}

/** Identify what a batch may hold once only: the key of the object, and the values the write claims. */
export function toBatchKeys({ key, holds = [] }: Write): string[] {
  const { group, resource, namespace, name } = key;
  const claims = holds.filter(({ kept }) => !kept).map(({ pool, value }) => `${pool}\0${value}`);
  return [`${group}\0${resource}\0${namespace}\0${name}`, ...claims];
}
