import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { ObjectKey } from '../key.ts';
import { type Revision, toRevision } from '../revision.ts';
import type { Write } from '../revision-log.ts';
import type { TextRow } from './statements.ts';

/** A write on its way, with the id by which it is found again when the answer to its commit is lost. */
export interface PendingWrite {
  readonly id: string;
  readonly write: Write;
  resolve(revision: Revision): void;
  reject(error: unknown): void;
}

export function toPendingWrite(write: Write, settle: Pick<PendingWrite, 'resolve' | 'reject'>): PendingWrite {
  return { id: randomUUID(), write, resolve: settle.resolve, reject: settle.reject };
}

export type CommitOutcome =
  | { readonly accepted: Revision }
  /** The live object's revision, or undefined when there is no live object. */
  | { readonly refused: Revision | undefined };

const COMMA = Buffer.from(',');
const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');
const END = Buffer.from('}');

/**
 * The batch as the JSON that commit_revisions takes. Objects are embedded as they are, neither parsed nor escaped: the
 * column's type is json, so what a client sent comes back byte for byte.
 */
export function encodeBatch(batch: readonly PendingWrite[]): Buffer {
  const parts: Buffer[] = [];
  for (const [ordinal, { id, write }] of batch.entries()) {
    parts.push(ordinal === 0 ? OPEN : COMMA, encodeColumns(ordinal, id, write), write.json, END);
  }
  parts.push(CLOSE);
  return Buffer.concat(parts);
}

/** Everything but the object, with its name last: `{…,"object":`. */
function encodeColumns(ordinal: number, id: string, write: Write): Buffer {
  const { key, attribution } = write;
  const columns = JSON.stringify({
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
    username: attribution.username,
    user_agent: attribution.userAgent,
    source_address: attribution.sourceAddress,
    request_id: attribution.requestId,
    field_manager: attribution.fieldManager,
  });
  return Buffer.from(`${columns.slice(0, -1)},"object":`);
}

/** One call, one transaction, one fsync. Outcomes are in the order of the batch. */
export async function commitBatch(
  client: pg.Client,
  batch: readonly PendingWrite[],
): Promise<CommitOutcome[]> {
  const { rows } = await client.query<TextRow<'ordinal' | 'accepted_revision' | 'live_revision'>>({
    name: 'commit_revisions',
    text: 'SELECT ordinal, accepted_revision, live_revision FROM commit_revisions($1::json)',
    values: [encodeBatch(batch)],
  });
  const outcomes: CommitOutcome[] = [];
  for (const { ordinal, accepted_revision: accepted, live_revision: live } of rows) {
    outcomes[Number(ordinal)] =
      accepted === null
        ? { refused: live === null ? undefined : toRevision(live) }
        : { accepted: toRevision(accepted) };
  }
  return outcomes;
}

/**
 * What became of writes whose answer was lost. Waits for the ordering lock first, so a commit that was still under way is
 * over by the time the log is searched; the caller has made sure that the old connection cannot start another.
 */
export async function findWrites(
  client: pg.Client,
  ids: readonly string[],
  after: Revision,
): Promise<Map<string, Revision>> {
  await client.query('BEGIN');
  try {
    await client.query(
      "SELECT pg_advisory_xact_lock(hashtext('pg-apiserver'), hashtext('commit_revisions'))",
    );
    const { rows } = await client.query<TextRow<'write_id' | 'revision'>>(
      'SELECT write_id, revision FROM revisions WHERE revision > $1 AND write_id = ANY($2::uuid[])',
      [after.toString(), ids],
    );
    return new Map(rows.map((row) => [row.write_id, toRevision(row.revision)]));
  } finally {
    await client.query('ROLLBACK');
  }
}

/** Identifies a key in a batch, which may hold each key once. */
export function toBatchKey({ group, resource, namespace, name }: ObjectKey): string {
  return `${group}\0${resource}\0${namespace}\0${name}`;
}
