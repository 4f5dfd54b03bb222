import { expect, test } from 'vitest';
import { StatusError } from '../../src/api/status.ts';
import { type Shortage, StorageError, type StorageFailure } from '../../src/storage/errors.ts';
import { toStatusError } from '../../src/verbs/storage-status.ts';

function statusOf(failure: StorageFailure) {
  const error = toStatusError(new StorageError(failure), { group: '', resource: 'pods' }, 'a');
  if (!(error instanceof StatusError)) throw new Error('not a status');
  return error.status;
}

test('a write that may have been made is not answered in a way that clients repeat', () => {
  const { code, reason, details } = statusOf({ kind: 'unknown', reason: 'no standby confirms' });
  expect({ code, reason, retry: details?.retryAfterSeconds }).toEqual({
    code: 504,
    reason: 'Timeout',
    retry: undefined,
  });
});

test('a write that was certainly not made may be repeated', () => {
  const { code, details } = statusOf({ kind: 'unavailable', reason: 'the database is gone' });
  expect({ code, retry: details?.retryAfterSeconds }).toEqual({ code: 503, retry: 1 });
});

test('clients learn that the database cannot be reached; the log names its address and its error', () => {
  const reason = 'password authentication failed for user "pg" at 10.1.2.3:5432';
  const error = toStatusError(
    new StorageError({ kind: 'unavailable', reason }),
    { group: '', resource: 'pods' },
    'p',
  );
  if (!(error instanceof StatusError)) throw new Error('it is no Status');
  expect(error.status).toMatchObject({ code: 503, message: 'the database cannot be reached' });
  expect(JSON.stringify(error.status)).not.toMatch(/10\.1\.2\.3|password|pg/);
  expect(String(error.cause)).toContain(reason);
});

test.each<[Shortage, string, number | undefined]>([
  ['disk', 'the disk of the database is full', undefined],
  ['memory', 'the database is out of memory', 1],
  ['connections', 'the database has no connection free', 1],
  ['writes', 'the database takes no writes: it is read-only', undefined],
  ['schema', 'the schema of the database waits for a migration', 1],
  ['time', 'the database is busy: other transactions are in the way, or it takes too long', 1],
])('clients read what a database lacks that can be reached: %s', (because, message, retry) => {
  const status = statusOf({ kind: 'unavailable', reason: 'could not extend file "base/1/2"', because });
  expect({ code: status.code, message: status.message, retry: status.details?.retryAfterSeconds }).toEqual({
    ...{ code: 503, message, retry },
  });
});
