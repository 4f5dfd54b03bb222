import { expect, test } from 'vitest';
import { StatusError } from '../../src/api/status.ts';
import { StorageError } from '../../src/storage/errors.ts';
import { toStatusError } from '../../src/verbs/storage-status.ts';

test('that the database cannot be reached is told to clients; where it is, and what it said, to the log', () => {
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
