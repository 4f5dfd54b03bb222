import { type Revision, toRevision } from '../../revision.ts';
import type {
  Change,
  ChangeWithPrevious,
  EncodedBytes,
  StoredObject,
  WriteVerb,
} from '../../revision-log.ts';
import { type TextRow, toOwnBytes } from '../connection/statements.ts';

/** Rows of the log as they come from SQL, and what they mean. */

/** The bytes of an object: `object` or `encoded` is null, and `media_type` with `encoded`. */
interface BytesRow {
  readonly object: string | null;
  readonly encoded: string | null;
  readonly media_type: string | null;
}

export type ObjectRow = TextRow<'api_group' | 'resource' | 'namespace' | 'name' | 'uid' | 'revision'> &
  BytesRow;

export type ChangeRow = ObjectRow &
  TextRow<'verb' | 'committed_at' | 'write_id'> & {
    readonly previous_revision: string | null;
    readonly follows_revision: string | null;
  };

/** A change with its write id: after a failover, another may have the same revision. */
export interface LoggedChange extends Change {
  readonly writeId: string;
  /** The newest revision before the batch of this change; undefined in rows from before it was kept. */
  readonly follows: Revision | undefined;
}

/** Makes the bytes of a text. */
type ToBytes = (text: string) => Buffer;

export function toStoredObject(row: ObjectRow, toOwn: ToBytes = toOwnBytes): StoredObject {
  return {
    key: { group: row.api_group, resource: row.resource, namespace: row.namespace, name: row.name },
    revision: toRevision(row.revision),
    uid: row.uid,
    ...toBytes(row, toOwn),
  };
}

/** Stands for bytes in another form. */
export const NO_JSON = Buffer.alloc(0);

function toBytes(row: BytesRow, toOwn: ToBytes): { readonly json: Buffer; readonly encoded?: EncodedBytes } {
  const { object, encoded, media_type: mediaType } = row;
  if (encoded === null || mediaType === null) return { json: toOwn(object ?? '') };
  return { json: NO_JSON, encoded: { bytes: fromHex(encoded), mediaType } };
}

/** A bytea as text: `\x48656c6c6f`. */
const fromHex = (text: string): Buffer => Buffer.from(text.slice(2), 'hex');

export function toChange(row: ChangeRow, toOwn?: ToBytes): LoggedChange {
  return {
    ...toStoredObject(row, toOwn),
    verb: toVerb(row.verb),
    previous: toOptional(row.previous_revision),
    committedAt: new Date(row.committed_at),
    writeId: row.write_id,
    follows: toOptional(row.follows_revision),
  };
}

export type PreviousRow = ChangeRow & {
  readonly [column in keyof BytesRow as `previous_${column}`]: string | null;
};

export function toChangeWithPrevious(row: PreviousRow, toOwn: ToBytes = toOwnBytes): ChangeWithPrevious {
  const { previous_object: object, previous_encoded: encoded, previous_media_type } = row;
  if (object === null && encoded === null) return { ...toChange(row, toOwn), previousJson: undefined };
  const previous = toBytes({ object, encoded, media_type: previous_media_type }, toOwn);
  const previousEncoded = previous.encoded === undefined ? {} : { previousEncoded: previous.encoded };
  return { ...toChange(row, toOwn), previousJson: previous.json, ...previousEncoded };
}

export function toVerb(text: string): WriteVerb {
  if (text === 'create' || text === 'update' || text === 'delete') return text;
  throw new Error(`the log has a row with verb ${JSON.stringify(text)}`);
}

function toOptional(text: string | null): Revision | undefined {
  return text === null ? undefined : toRevision(text);
}
