import { randomUUID } from 'node:crypto';
import type { PoolValue } from '../allocations.ts';
import { type Revision, toRevision } from '../revision.ts';
import type { Write } from '../revision-log.ts';
import type { Connection } from './connection.ts';
import { FIND_WRITES } from './queries.ts';
import { LOCK_COMMITS, type TextRow } from './statements.ts';

/** A write on its way, with the id by which it is found again when the answer to its commit is lost. */
export interface PendingWrite {
  readonly id: string;
  readonly write: Write;
  /** When to give up on a database that cannot be reached, in epoch milliseconds. */
  readonly deadlineMs: number;
  resolve(revision: Revision): void;
  reject(error: unknown): void;
}

export function toPendingWrite(
  write: Write,
  patienceMs: number,
  settle: Pick<PendingWrite, 'resolve' | 'reject'>,
): PendingWrite {
  return { id: randomUUID(), write, deadlineMs: Date.now() + patienceMs, ...settle };
}

export type CommitOutcome =
  | { readonly accepted: Revision }
  /** The live object's revision, or undefined when there is no live object. */
  | { readonly refused: Revision | undefined }
  /** A value it claimed is another object's. */
  | { readonly taken: PoolValue };

/** All of a batch but its objects, as commit_revisions takes it. */
function encodeColumns(batch: readonly PendingWrite[]): string {
  const records = batch.map(({ id, write: { key, attribution, ...write } }, ordinal) => ({
    ordinal,
    verb: write.verb,
    api_group: key.group,
    resource: key.resource,
    namespace: key.namespace,
    name: key.name,
    uid: write.uid,
    expected: write.expected?.toString() ?? null,
    write_id: id,
    expires_at: write.expiresAt?.toISOString() ?? null,
    username: toText(attribution.username),
    user_agent: toText(attribution.userAgent),
    source_address: toText(attribution.sourceAddress),
    request_id: toText(attribution.requestId),
    field_manager: toText(attribution.fieldManager),
    ...(write.holds === undefined ? {} : { holds: write.holds }),
  }));
  return JSON.stringify(records);
}

/** PostgreSQL's text holds neither NUL nor half a surrogate pair; callers choose what these say. */
function toText(value: string): string {
  return value.replaceAll('\0', '').toWellFormed();
}

const JSON_OID = 114;

/**
 * The objects as a json[] in PostgreSQL's binary form, neither parsed nor escaped, so what a client sent comes back byte for
 * byte: int32 dimensions, has nulls, element type, length, lower bound; then an int32 size before each element.
 */
function encodeObjects(batch: readonly PendingWrite[]): Buffer {
  const parts: Buffer[] = [int32s(1, 0, JSON_OID, batch.length, 1)];
  for (const { write } of batch) parts.push(int32s(write.json.length), write.json);
  return Buffer.concat(parts);
}

function int32s(...values: number[]): Buffer {
  const bytes = Buffer.allocUnsafe(values.length * 4);
  for (const [at, value] of values.entries()) bytes.writeInt32BE(value, at * 4);
  return bytes;
}

/** One call, one transaction, one fsync. Outcomes are in the order of the batch. */
export async function commitBatch(
  { client, prepares }: Connection,
  batch: readonly PendingWrite[],
): Promise<CommitOutcome[]> {
  const [name, columns] = batch.some(({ write }) => write.holds !== undefined) ? COMMIT_HOLDING : COMMIT;
  const { rows } = await client.query<OutcomeRow>({
    ...(prepares ? { name } : {}),
    text: `SELECT ${columns} FROM ${name}($1::json, $2::json[])`,
    values: [encodeColumns(batch), encodeObjects(batch)],
  });
  const outcomes: CommitOutcome[] = [];
  for (const row of rows) outcomes[Number(row.ordinal)] = toOutcome(row);
  return outcomes;
}

/** Most batches have no values to change hands, and do not look for any. */
const COMMIT = ['commit_revisions', 'ordinal, accepted_revision, live_revision'];
const COMMIT_HOLDING = ['commit_holding_revisions', `${COMMIT[1]}, taken_pool, taken_value`];

type OutcomeRow = TextRow<'ordinal'> & {
  readonly [column in 'accepted_revision' | 'live_revision']: string | null;
} & { readonly [column in 'taken_pool' | 'taken_value']?: string | null };

function toOutcome(row: OutcomeRow): CommitOutcome {
  const { accepted_revision: accepted, live_revision: live, taken_pool: pool, taken_value: value } = row;
  if (accepted !== null) return { accepted: toRevision(accepted) };
  if (typeof pool === 'string' && typeof value === 'string') return { taken: { pool, value } };
  return { refused: live === null ? undefined : toRevision(live) };
}

/**
 * What became of writes whose answer was lost. Waits for the ordering lock first, so a commit that was still under way is
 * over by the time the log is searched; the caller has made sure that the old connection cannot start another.
 */
export async function findWrites(
  { client }: Connection,
  ids: readonly string[],
  after: Revision,
): Promise<Map<string, Revision>> {
  await client.query('BEGIN');
  try {
    await client.query(LOCK_COMMITS);
    const rows = await FIND_WRITES.run(client, { after: after.toString(), ids });
    return new Map(rows.map((row) => [row.write_id, toRevision(row.revision)]));
  } finally {
    await client.query('ROLLBACK');
  }
}

/** Identify what a batch may hold once only: the key of the object, and the values the write claims. */
export function toBatchKeys({ key, holds = [] }: Write): string[] {
  const { group, resource, namespace, name } = key;
  const claims = holds.filter(({ kept }) => !kept).map(({ pool, value }) => `${pool}\0${value}`);
  return [`${group}\0${resource}\0${namespace}\0${name}`, ...claims];
}
