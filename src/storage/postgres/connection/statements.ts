import type pg from 'pg';
import { errorText } from '../../../util/error-text.ts';
import { type Shortage, StorageError, type Unavailable } from '../../errors.ts';

/**
 * Reads everything as text. json columns must not be parsed here (duplicates and large integers would be lost), and int8 becomes a
 * bigint where it becomes a Revision.
 */
export const TEXT_TYPES: pg.CustomTypesConfig = {
  getTypeParser: () => (value: string | Buffer) => value.toString(),
};

/** A row whose columns all arrived as text; null columns are null. */
export type TextRow<Column extends string> = { readonly [column in Column]: string };

/**
 * Copies a text outside Node's shared 8 kB slabs: an object that lives for days must not keep its neighbours' memory. Small values
 * share a slab all the same: allocations would cost more than what they could pin.
 */
export function toOwnBytes(text: string): Buffer {
  const length = Buffer.byteLength(text);
  if (length < 512) return Buffer.from(text);
  const bytes = Buffer.allocUnsafeSlow(length);
  bytes.write(text);
  return bytes;
}

/** Whether a failure means that the connection is useless, rather than that the statement was wrong. */
export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  // Class 08: connection exceptions; 57P0x: the server shuts down; 25006: it is a standby; 53300: no connection is free.
  // Class 28: the password was rotated, or rights to connect are being changed.
  if (/^(08|28|57P0)/.test(code) || code === '25006' || code === '53300') return true;
  if (/^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_|ENOENT|EPROTO|ERR_SSL|ERR_TLS)/.test(code))
    return true;
  return code === '' && /connection|timeout|not queryable|socket|client was closed/i.test(error.message);
}

/** Whether PostgreSQL, or a pooler before it, refused, rather than ended or was not reached. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error) || !('severity' in error) || !('code' in error)) return false;
  return typeof error.code === 'string' && !/^(57P0|08006)/.test(error.code);
}

/** Whether the statement never left this process, because the connection was gone before. */
export function wasNotSent(error: unknown): boolean {
  return error instanceof Error && /not queryable|client was closed/i.test(error.message);
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

const hasCode = (error: unknown, code: string): boolean => codeOf(error) === code;

/** Whether a lock was not free in time. */
export const isLockTimeout = (error: unknown): boolean => hasCode(error, '55P03');

/** Whether the user lacks a right. */
export const isDenied = (error: unknown): boolean => hasCode(error, '42501');

/** Whether the schema has no function of that name. */
export const isUnknownFunction = (error: unknown): boolean => hasCode(error, '42883');

/** Whether the schema lacks a relation or column so far. */
export const isNotYetThere = (error: unknown): error is Error =>
  hasCode(error, '42P01') || hasCode(error, '42703');

/**
 * Whether a write failed for what a migration changes, rather than for itself: class 0A: a plan from before; 23: a constraint that
 * holds what functions of another version write; 42: names; XX: a relation that was dropped in between. Nothing was done.
 */
export const isOfSchema = (error: unknown): boolean =>
  isRefusal(error) && /^(0A|23|42|XX)/.test(codeOf(error));

/** Whether the host takes no writes: it is a standby, or its transactions are read-only. Nothing was done. */
export const isReadOnly = (error: unknown): boolean => hasCode(error, '25006');

/** Whether another transaction was in the way, on a standby its replay: 40001, 40P01. */
export const isConflict = (error: unknown): boolean => hasCode(error, '40001') || hasCode(error, '40P01');

/**
 * A commit that PostgreSQL warned of. When a backend is made to stop waiting for a standby, only a warning says that the commit is
 * here and perhaps nowhere else; no other warning is known to come at a commit. Its text is translated and its SQLSTATE that of any
 * warning.
 */
export class UncertainCommit extends Error {
  constructor(warning: string) {
    super(`PostgreSQL warned of the commit: ${warning}`);
    this.name = 'UncertainCommit';
  }
}

/** Runs what commits. @throws UncertainCommit after a warning */
export async function withoutWarning<Result>(
  client: pg.ClientBase,
  run: () => Promise<Result>,
): Promise<Result> {
  let warning: string | undefined;
  const onNotice = ({ code, message }: { code?: string | undefined; message?: string | undefined }): void => {
    if (code?.startsWith(WARNING_CLASS)) warning = message ?? '';
  };
  client.on('notice', onNotice);
  try {
    const result = await run();
    if (warning !== undefined) throw new UncertainCommit(warning);
    return result;
  } finally {
    client.removeListener('notice', onNotice);
  }
}

const WARNING_CLASS = '01';

/**
 * Whether the same statement may succeed later. Class 53: disk or memory is full; 57014: it took too long; 55P03, 40001 and 40P01:
 * another transaction was in the way.
 */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return false;
  return /^(53|57014|55P03|40001|40P01)/.test(error.code);
}

/** @throws StorageError `unavailable` where PostgreSQL cannot answer now, otherwise the error itself */
export function rethrow(error: unknown): never {
  if (!isConnectionFailure(error) && !isTransient(error)) throw error;
  const reason = errorText(error);
  throw new StorageError(toUnavailable(error, reason), { cause: error });
}

export const toUnavailable = (error: unknown, reason: string): Unavailable => ({
  ...{ kind: 'unavailable', reason, because: shortageOf(error) },
});

/** By SQLSTATE. 57014: a statement took too long; 55P03, 40001 and 40P01: another transaction was in the way. */
const SHORTAGES: readonly (readonly [codes: RegExp, Shortage])[] = [
  [/^53[14]00$/, 'disk'],
  [/^53200$/, 'memory'],
  [/^53300$/, 'connections'],
  [/^25006$/, 'writes'],
  [/^(42P01|42703)$/, 'schema'],
  [/^(57014|55P03|40001|40P01)$/, 'time'],
];

/** Returns undefined where the database may not have been reached. The last of several hosts speaks for all. */
function shortageOf(error: unknown): Shortage | undefined {
  if (error instanceof AggregateError) return shortageOf(error.errors.at(-1));
  if (!(error instanceof Error)) return undefined;
  const code = codeOf(error);
  return SHORTAGES.find(([codes]) => codes.test(code))?.[1] ?? shortageOf(error.cause);
}

/** Whether OpenSSL calls a certificate unverifiable by this code (its X509_V_ERR_ names). */
export function isUnverified(code: string): boolean {
  return /^(CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|HOSTNAME_MISMATCH)/.test(
    code,
  );
}
