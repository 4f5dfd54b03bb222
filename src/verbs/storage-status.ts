import { type GroupResource, toQualifiedResource } from '../api/names.ts';
import * as status from '../api/status.ts';
import { StatusError, type StatusInit } from '../api/status.ts';
import { type Shortage, StorageError, type UnreadableObject } from '../storage/errors.ts';
import type { ObjectKey } from '../storage/key.ts';

/**
 * Converts a StorageError to the status that clients see. Passes everything else through unchanged. Clients parse these texts
 * (design: errors that clients parse).
 */
export function toStatusError(error: unknown, resource: GroupResource, name: string): unknown {
  if (!(error instanceof StorageError)) return error;
  const { failure } = error;
  switch (failure.kind) {
    case 'exists':
      return status.alreadyExists(resource, name);
    case 'not-found':
      return status.notFound(resource, name);
    case 'conflict':
      return status.conflict(resource, name, status.MODIFIED);
    case 'compacted':
      return expired('The resourceVersion for the provided list is too old.');
    case 'future':
      return tooLargeResourceVersion(failure.requested, failure.current);
    case 'unavailable':
      return new StatusError(
        {
          code: 503,
          reason: 'ServiceUnavailable',
          ...unavailability(failure.because),
        },
        // The cause has the address, which clients must not see.
        { cause: new Error(failure.reason, { cause: error }) },
      );
    case 'overloaded':
      return status.tooManyRequests('too many writes are waiting for the database', 1);
    case 'abandoned':
      // The client has its answer, or has disconnected.
      return status.timedOut();
    case 'unknown':
      // Without retryAfterSeconds, which makes client-go repeat the request, even a create.
      return new StatusError(
        {
          code: 504,
          reason: 'Timeout',
          message: 'the database did not say in time whether the write was made',
        },
        { cause: new Error(failure.reason, { cause: error }) },
      );
    case 'too-large':
      return new StatusError({
        code: 413,
        reason: 'RequestEntityTooLarge',
        message: `Request entity too large: the object has ${failure.sizeBytes} bytes, the limit is ${failure.limitBytes}`,
      });
    case 'taken':
      // Only the strategy that claimed the value knows its meaning.
      return error;
    case 'unreadable':
      return unreadable(failure.objects);
    case 'moved':
      return new StatusError({
        code: 503,
        reason: 'ServiceUnavailable',
        message: 'the resource is being moved to another database',
        details: { retryAfterSeconds: 1 },
      });
    case 'unwritable':
      return status.internalError(`the object cannot be stored: ${failure.reason}`);
    default:
      return failure satisfies never;
  }
}

const SHORTAGES: { readonly [shortage in Shortage]: string } = {
  disk: 'the disk of the database is full',
  memory: 'the database is out of memory',
  connections: 'the database has no connection free',
  writes: 'the database takes no writes: it is read-only',
  schema: 'the schema of the database waits for a migration',
  time: 'the database is busy: other transactions are in the way, or it takes too long',
};
/** Shortages that an administrator must end. client-go would repeat with retryAfterSeconds ten times before it shows the message. */
const LASTING: readonly (Shortage | undefined)[] = ['disk', 'writes'];

/** kube-apiserver answers a full etcd with a 500 (`mvcc: database space exceeded`), which is not repeated either. */
const unavailability = (because: Shortage | undefined): Pick<StatusInit, 'message' | 'details'> => ({
  message: because === undefined ? 'the database cannot be reached' : SHORTAGES[because],
  ...(LASTING.includes(because) ? {} : { details: { retryAfterSeconds: 1 } }),
});

/** Most objects in the message; the causes have more. */
const MOST_NAMED = 10;
const MOST_CAUSES = 100;

/** A 500, as in Kubernetes (AllowUnsafeMalformedObjectDeletion), with the objects to delete or repair. */
function unreadable(objects: readonly UnreadableObject[]): StatusError {
  const [first] = objects;
  const named = objects
    .slice(0, MOST_NAMED)
    .map(({ key, reason }) => `${nameOf(key)}: ${reason}`)
    .join('; ');
  const more = objects.length > MOST_NAMED ? `; and ${objects.length - MOST_NAMED} more` : '';
  const { group = '', resource = '' } = first?.key ?? {};
  const what = toQualifiedResource({ group, resource });
  return new StatusError({
    code: 500,
    reason: 'StorageReadError',
    message: `failed to read one or more ${what} from the storage: ${named}${more}`,
    details: {
      ...(group === '' ? {} : { group }),
      kind: resource,
      ...(objects.length === 1 && first !== undefined ? { name: first.key.name, uid: first.uid } : {}),
      causes: objects.slice(0, MOST_CAUSES).map(({ key, reason }) => ({
        reason: 'UnexpectedServerResponse',
        field: nameOf(key),
        message: reason,
      })),
    },
  });
}

const nameOf = ({ namespace, name }: ObjectKey): string => (namespace === '' ? name : `${namespace}/${name}`);

/** Returns the result of `work`. @throws StatusError for a StorageError, see {@link toStatusError} */
export async function inStatuses<Result>(
  work: Promise<Result>,
  resource: GroupResource,
  name: string,
): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw toStatusError(error, resource, name);
  }
}

/** A 410. The reason is Expired, never Gone: client-go only lists again on Expired. */
export function expired(message: string, continueToken?: string): StatusError {
  return new StatusError({
    code: 410,
    reason: 'Expired',
    message,
    ...(continueToken === undefined ? {} : { continue: continueToken }),
  });
}

/** A 410 for a watch that begins before the history, `too old resource version: 5 (120)`, or after all of it. */
export function watchExpired(requested: bigint, compacted: bigint): StatusError {
  if (requested > compacted)
    return expired(`unknown resource version: ${requested} (the newest is ${compacted})`);
  return expired(`too old resource version: ${requested} (${compacted})`);
}

/** A 504 that client-go recognizes by its cause, not by the text. */
function tooLargeResourceVersion(requested: bigint, current: bigint): StatusError {
  return new StatusError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${requested}, current: ${current}`,
    details: {
      causes: [
        {
          reason: 'ResourceVersionTooLarge',
          message: 'Too large resource version',
        },
      ],
      retryAfterSeconds: 1,
    },
  });
}
