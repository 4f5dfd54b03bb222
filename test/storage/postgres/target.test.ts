import { expect, test } from 'vitest';
import { parseTarget } from '../../../src/storage/postgres/connection/connection-target.ts';

const parse = (url: string, environment: NodeJS.ProcessEnv = {}) => parseTarget(url, environment);

test('a URL says host, port, user, password and database; the environment says what it leaves out', () => {
  expect(
    parse('postgres://server:p%40ss%2Fword@db.example.com:6432/cluster?options=-csearch_path%3Dx'),
  ).toMatchObject({
    host: 'db.example.com',
    port: 6432,
    user: 'server',
    password: 'p@ss/word',
    database: 'cluster',
    settings: { options: '-csearch_path=x' },
  });
  expect(
    parse('postgresql://', {
      PGHOST: 'h',
      PGPORT: '1',
      PGUSER: 'u',
      PGDATABASE: 'd',
      PGPASSWORD: 'p',
      PGSSLMODE: 'require',
    }),
  ).toMatchObject({ host: 'h', port: 1, user: 'u', database: 'd', password: 'p', tls: { mode: 'require' } });
  expect(parse('postgres://u@[::1]:7/d')).toMatchObject({ host: '::1', port: 7, password: undefined });
});

test('sockets are named in either way that libpq knows', () => {
  expect(parse('postgres://u@%2Frun%2Fpostgresql/d').host).toBe('/run/postgresql');
  expect(parse('postgres:///d?host=/run/postgresql&user=u')).toMatchObject({
    host: '/run/postgresql',
    user: 'u',
  });
  expect(parse('postgres://u:p@/d?host=/run/x')).toMatchObject({ host: '/run/x', password: 'p' });
});

test('a password keeps what is not percent-encoded and need not be', () => {
  expect(parse('postgres://u:a@b:c#d%zz@h/d').password).toBe('a@b:c#d%zz');
});

test('what is said about a URL that cannot be read holds nothing of it', () => {
  for (const url of [
    'postgres://user:hunter2@host:port/d',
    'mysql://user:hunter2@host/d',
    'postgres://user:hunter2@::1/d',
    'postgres://user:hunter2@h/d?sslmode=verify',
    'postgres://user:hunter2@h/d?ssl=maybe',
  ]) {
    expect(() => parse(url)).toThrow(/^the URL of PostgreSQL cannot be read: (?!.*hunter2)/);
  }
});
