import { expect, test } from 'vitest';
import { StatusError } from '../../../src/api/status.ts';
import { StorageError } from '../../../src/storage/errors.ts';
import { toUnavailable } from '../../../src/storage/postgres/connection/statements.ts';
import {
  describeTrouble,
  explainFault,
  isPassing,
  tellExpected,
} from '../../../src/storage/postgres/connection/trouble.ts';
import { NO_REVISION } from '../../../src/storage/revision.ts';

const withCode = (code: string, message = code, more = {}): Error =>
  Object.assign(new Error(message), { code, ...more });

const unavailable = new StorageError({ kind: 'unavailable', reason: 'connect ECONNREFUSED 127.0.0.1:5432' });
const unavailableStatus = new StatusError(
  { code: 503, reason: 'ServiceUnavailable', message: 'the database cannot be reached' },
  { cause: unavailable },
);

test.each([
  ['its port is closed', withCode('ECONNREFUSED')],
  [
    'its socket is not there yet',
    withCode('ENOENT', 'connect ENOENT /run/.s.PGSQL.5432', { syscall: 'connect' }),
  ],
  ['its name is not known yet', withCode('ENOTFOUND')],
  ['the name server does not answer', withCode('EAI_AGAIN')],
  ['it starts', withCode('57P03', 'the database system is starting up')],
  ['it stops', withCode('57P01')],
  ['all its connections are taken', withCode('53300', 'sorry, too many clients already')],
  ['its memory is used up', withCode('53200')],
  ['it is a standby', withCode('25006')],
  ['it does not answer', new Error('timeout expired')],
  ['it hangs up', new Error('Connection terminated unexpectedly')],
  [
    'neither of its addresses answers',
    new AggregateError([withCode('ECONNREFUSED'), withCode('ENETUNREACH')]),
  ],
  ['a read says so', unavailable],
  ['a write says so', unavailableStatus],
])('a database is waited for when %s', (_, error) => {
  expect(isPassing(error)).toBe(true);
});

test.each([
  ['the password is wrong', withCode('28P01')],
  ['the user may not come in', withCode('28000')],
  ['there is no such database', withCode('3D000')],
  ['the user lacks a right', withCode('42501')],
  ['it speaks no TLS', new Error('The server does not support SSL connections')],
  ['its certificate is not trusted', withCode('SELF_SIGNED_CERT_IN_CHAIN')],
  ['its certificate is another one’s', withCode('ERR_TLS_CERT_ALTNAME_INVALID')],
  ['a file is missing', withCode('ENOENT', 'open ca.pem', { syscall: 'open' })],
  [
    'wal_level is not logical',
    new Error('wal_level is replica: set wal_level = logical and restart PostgreSQL'),
  ],
  [
    'a webhook does not answer',
    new StatusError({ code: 500, reason: 'InternalError', message: 'connection timeout' }),
  ],
  ['it is no error', 'connection'],
])('nothing is waited for when %s', (_, error) => {
  expect(isPassing(error)).toBe(false);
});

test('a trouble is described in one line, with all addresses of a name', () => {
  const both = [
    withCode('ECONNREFUSED', 'connect ECONNREFUSED ::1:5432'),
    withCode('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:5432'),
  ];
  expect(describeTrouble(new AggregateError(both))).toBe(
    'connect ECONNREFUSED ::1:5432; connect ECONNREFUSED 127.0.0.1:5432',
  );
  expect(describeTrouble(unavailable)).toBe('connect ECONNREFUSED 127.0.0.1:5432');
  expect(describeTrouble('odd')).toBe('odd');
});

test('the message for a refusal of the database says what to change, and one that says so already is left as it is', () => {
  const refused = withCode('3D000', 'database "a" does not exist', { severity: 'FATAL' });
  expect(explainFault(refused)).toMatchObject({
    message:
      'database "a" does not exist: create it (CREATE DATABASE), or name another one in --kvstore-servers',
    cause: refused,
  });
  const own = withCode('28P01', 'there is no password: chmod 600 the file');
  expect(explainFault(own)).toBe(own);
});

test('outages and lost histories were to be expected; mistakes were not', () => {
  const lost = new StorageError({ kind: 'compacted', requested: NO_REVISION, compacted: NO_REVISION });
  expect(tellExpected(lost)).toBe('the history it was following is gone, and it begins anew');
  expect(tellExpected(unavailableStatus)).toBe('the database cannot be reached');
  expect(tellExpected(new TypeError('x is not a function'))).toBeUndefined();
  expect(tellExpected(withCode('42501'))).toBeUndefined();
});

test.each([
  ['53100', 'disk'],
  ['53200', 'memory'],
  ['53300', 'connections'],
  ['25006', 'writes'],
  ['42P01', 'schema'],
  ['57014', 'time'],
  ['57P03', undefined],
  ['ECONNREFUSED', undefined],
])('of a database that says %s it is known that it lacks %s, also by what it caused', (code, because) => {
  const error = withCode(code);
  for (const one of [
    error,
    new Error('no host', { cause: error }),
    new AggregateError([withCode('x'), error]),
  ])
    expect(toUnavailable(one, 'why')).toEqual({ kind: 'unavailable', reason: 'why', because });
});
