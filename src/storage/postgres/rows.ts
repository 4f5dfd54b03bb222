import { type Revision, toRevision } from '../revision.ts';
import type { Change, ChangeWithPrevious, StoredObject, WriteVerb } from '../revision-log.ts';
import { type TextRow, toOwnBytes } from './statements.ts';

/** Rows of the log as they come from SQL, and what they mean. */

export type ObjectRow = TextRow<
  'api_group' | 'resource' | 'namespace' | 'name' | 'uid' | 'revision' | 'object'
>;

export type ChangeRow = ObjectRow &
  TextRow<'verb' | 'committed_at' | 'write_id'> & {
    readonly previous_revision: string | null;
    readonly follows_revision: string | null;
  };

/** A change that can be told from another of the same revision, which a failover may bring about. */
export interface LoggedChange extends Change {
  readonly writeId: string;
  /** The newest revision there was before the batch of this change; undefined in rows from before it was kept. */
  readonly follows: Revision | undefined;
}

export function toStoredObject(row: ObjectRow): StoredObject {
  return {
    key: { group: row.api_group, resource: row.resource, namespace: row.namespace, name: row.name },
    revision: toRevision(row.revision),
    uid: row.uid,
    json: toOwnBytes(row.object),
  };
}

export function toChange(row: ChangeRow): LoggedChange {
  return {
    ...toStoredObject(row),
    verb: toVerb(row.verb),
    previous: toOptional(row.previous_revision),
    committedAt: new Date(row.committed_at),
    writeId: row.write_id,
    follows: toOptional(row.follows_revision),
  };
}

export function toChangeWithPrevious(
  row: ChangeRow & { readonly previous_object: string | null },
): ChangeWithPrevious {
  const previousJson = row.previous_object === null ? undefined : toOwnBytes(row.previous_object);
  return { ...toChange(row), previousJson };
}

export function toVerb(text: string): WriteVerb {
  if (text === 'create' || text === 'update' || text === 'delete') return text;
  throw new Error(`the log has a row with verb ${JSON.stringify(text)}`);
}

function toOptional(text: string | null): Revision | undefined {
  return text === null ? undefined : toRevision(text);
}
