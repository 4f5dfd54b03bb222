import { type LaterInit, StatusError, type StatusInit } from '../api/status.ts';
import { errorText } from '../util/error-text.ts';
import type { ErrorForms } from '../util/port-calls.ts';
import { StorageError, type StorageFailure } from './errors.ts';

type ErrorValue =
  | { readonly kind: 'storage'; readonly failure: StorageFailure; readonly cause: string | undefined }
  | { readonly kind: 'status'; readonly init: StatusInit; readonly later: readonly LaterInit[] }
  | OtherValue;

/** `code`: of PostgreSQL or the system; it says whether the error passes by itself. `errors`: those of an AggregateError. */
interface OtherValue {
  readonly kind: 'other';
  readonly message: string;
  readonly code: string | undefined;
  readonly cause: ErrorValue | undefined;
  readonly errors: readonly ErrorValue[] | undefined;
}

/** Errors between threads: those of storage and statuses keep their kind, all others their text, code and causes. */
export const errorForms: ErrorForms = { toValue, fromValue: (value) => fromValue(value as ErrorValue) };

function toValue(error: unknown): ErrorValue {
  if (error instanceof StorageError)
    return { kind: 'storage', failure: error.failure, cause: toText(error.cause) };
  if (error instanceof StatusError) return { kind: 'status', init: toInit(error), later: error.later };
  return toOther(error);
}

function fromValue(form: ErrorValue): Error {
  switch (form.kind) {
    case 'storage':
      return new StorageError(form.failure, form.cause === undefined ? {} : { cause: new Error(form.cause) });
    case 'status':
      return new StatusError(form.init, undefined, form.later);
    case 'other':
      return fromOther(form);
    default:
      return form satisfies never;
  }
}

function toOther(error: unknown): OtherValue {
  const code =
    error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const cause = error instanceof Error && error.cause !== undefined ? toValue(error.cause) : undefined;
  const errors = error instanceof AggregateError ? error.errors.map(toValue) : undefined;
  return { kind: 'other', message: errorText(error), code, cause, errors };
}

function fromOther({ message, code, cause, errors }: OtherValue): Error {
  const options = cause === undefined ? {} : { cause: fromValue(cause) };
  const error =
    errors === undefined
      ? new Error(message, options)
      : new AggregateError(errors.map(fromValue), message, options);
  return code === undefined ? error : Object.assign(error, { code });
}

const toText = (cause: unknown): string | undefined => (cause === undefined ? undefined : errorText(cause));

function toInit({ status }: StatusError): StatusInit {
  const { code, reason = '', message = '', details, metadata } = status;
  return {
    ...{ code, reason, message },
    ...(details === undefined ? {} : { details }),
    ...(metadata.continue === undefined ? {} : { continue: metadata.continue }),
  };
}
