import { StatusError } from '../../../api/status.ts';
import { errorText } from '../../../util/error-text.ts';
import { failureOf, StorageError } from '../../errors.ts';
import { isConnectionFailure } from './statements.ts';

/** What is wrong with a database: whether waiting helps, or what a person must change. */

/** Whether the database may do later, by itself, what it could not do now: it starts, fails over, or is full of connections. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof StorageError) return error.failure.kind === 'unavailable';
  // The error of a write: only what storage said of it counts.
  if (error instanceof StatusError) return isPassing(error.cause);
  // A name with several addresses is tried at each.
  if (error instanceof AggregateError) return error.errors.some(isPassing);
  if (isMisconfigured(error)) return false;
  return isConnectionFailure(error) || isShortOf(error) || isPassing(error.cause);
}

const codeOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : '';

/** Class 53: memory, disk or connections of the database are used up. */
const isShortOf = (error: Error): boolean => codeOf(error).startsWith('53');

/**
 * Whether the next connection will end likewise: class 28, the user may not log in, TLS that the two sides do not agree on, and a
 * missing file.
 */
function isMisconfigured(error: Error): boolean {
  const code = codeOf(error);
  if (/^(28|ERR_TLS|ERR_SSL)/.test(code)) return true;
  if (code === 'ENOENT') return 'syscall' in error && error.syscall !== 'connect';
  return code === '' && /\bSSL\b|\bTLS\b/.test(error.message);
}

/** One line. */
export function describeTrouble(error: unknown): string {
  const unavailable = failureOf(error, 'unavailable');
  if (unavailable !== undefined) return unavailable.reason;
  if (error instanceof AggregateError) return [...new Set(error.errors.map(describeTrouble))].join('; ');
  return errorText(error);
}

/** Returns one line for the log of an error that passes by itself; undefined for others. */
export function tellExpected(error: unknown): string | undefined {
  if (failureOf(error, 'compacted') !== undefined)
    return 'the history it was following is gone, and it begins anew';
  return isPassing(error) ? describeTrouble(error) : undefined;
}

/** What helps where waiting does not, by SQLSTATE. */
const ADVICE: Readonly<Record<string, string>> = {
  '28000': 'name a user in --kvstore-servers who may log in from here, or allow this one to (pg_hba.conf)',
  '28P01': 'correct it in --kvstore-servers, in PGPASSWORD, or in the file that PGPASSFILE names',
  '3D000': 'create it (CREATE DATABASE), or name another one in --kvstore-servers',
  '42501': 'grant it, or migrate as a user who has the right',
};

/** Explains what stops a start, in one line that says what to change where that is known. Returns other errors as they are. */
export function explainFault(error: unknown): unknown {
  // Only PostgreSQL's own errors: ours say what to do already.
  if (!(error instanceof Error) || !('severity' in error)) return error;
  const advice = ADVICE[codeOf(error)];
  return advice === undefined ? error : new Error(`${error.message}: ${advice}`, { cause: error });
}
