import { StatusError, type StatusInit } from '../api/status.ts';
import { errorText } from '../util/error-text.ts';
import type { ErrorForms } from '../util/port-calls.ts';
import { StorageError, type StorageFailure } from './errors.ts';

type ErrorValue =
  | { readonly kind: 'storage'; readonly failure: StorageFailure; readonly cause: string | undefined }
  | { readonly kind: 'status'; readonly init: StatusInit }
  | { readonly kind: 'other'; readonly message: string };

/** Errors between threads: those of storage and statuses keep their kind, all others their text. */
export const errorForms: ErrorForms = {
  toValue: (error): ErrorValue => {
    if (error instanceof StorageError)
      return { kind: 'storage', failure: error.failure, cause: toText(error.cause) };
    if (error instanceof StatusError) return { kind: 'status', init: toInit(error) };
    return { kind: 'other', message: errorText(error) };
  },
  fromValue: (value) => {
    const form = value as ErrorValue;
    switch (form.kind) {
      case 'storage':
        return new StorageError(
          form.failure,
          form.cause === undefined ? {} : { cause: new Error(form.cause) },
        );
      case 'status':
        return new StatusError(form.init);
      case 'other':
        return new Error(form.message);
      default:
        return form satisfies never;
    }
  },
};

const toText = (cause: unknown): string | undefined => (cause === undefined ? undefined : errorText(cause));

function toInit({ status }: StatusError): StatusInit {
  const { code, reason = '', message = '', details, metadata } = status;
  return {
    ...{ code, reason, message },
    ...(details === undefined ? {} : { details }),
    ...(metadata.continue === undefined ? {} : { continue: metadata.continue }),
  };
}
