import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readClientConfig } from '../../src/outbound/client-config.ts';

const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function read(cluster: object, user: object = {}, extra: object = {}) {
  const path = join(folder, 'config');
  const file = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
    clusters: [{ name: 'k', cluster }],
    users: [{ name: 'u', user }],
    ...extra,
  };
  writeFileSync(path, JSON.stringify(file));
  return readClientConfig(path);
}

const SERVER = { server: 'https://hook.example:8443/audit?x=1' };

test('data stands in the file or in files it names, relative to itself', () => {
  writeFileSync(join(folder, 'ca.pem'), 'CA');
  writeFileSync(join(folder, 'token'), 'secret\n');
  const data = (text: string): string => Buffer.from(text).toString('base64');
  const cluster = { ...SERVER, 'certificate-authority': 'ca.pem', 'tls-server-name': 'other' };
  const user = {
    'client-certificate-data': data('CERT'),
    'client-key-data': data('KEY'),
    tokenFile: 'token',
  };
  expect(read(cluster, user)).toEqual({
    url: SERVER.server,
    ca: 'CA',
    certificate: 'CERT',
    key: 'KEY',
    serverName: 'other',
    insecureSkipVerify: false,
    authorization: 'Bearer secret',
  });
});

test('a token, or a name and password, become the Authorization header', () => {
  expect(read(SERVER, { token: 't' }).authorization).toBe('Bearer t');
  const basic = read(SERVER, { username: 'u', password: 'p' });
  expect(basic.authorization).toBe('Basic dTpw');
  expect(read(SERVER).authorization).toBeUndefined();
});

test.each([
  [SERVER, {}, { 'current-context': 'd' }, 'contexts has no "d"'],
  [SERVER, {}, { contexts: [] }, 'contexts has no "c"'],
  [SERVER, {}, { clusters: [] }, 'clusters has no "k"'],
  [SERVER, {}, { users: [] }, 'users has no "u"'],
  [{}, {}, {}, 'server "" must begin with https://'],
  [{ server: 'ftp://x' }, {}, {}, 'server "ftp://x" must begin with https://'],
  [{ ...SERVER, 'proxy-url': 'http://p' }, {}, {}, 'proxy-url is not supported'],
  [SERVER, { exec: { command: 'x' } }, {}, 'exec is not supported'],
  [SERVER, { 'client-certificate-data': 'eA==' }, {}, 'belong together'],
  [SERVER, { 'client-certificate': 'missing.pem' }, {}, 'ENOENT'],
])('%j, %j, %j is refused: %s', (cluster, user, extra, message) => {
  expect(() => read(cluster, user, extra)).toThrow(message);
});

test('a file that is missing or no kubeconfig is refused by its name', () => {
  expect(() => readClientConfig(join(folder, 'none'))).toThrow(/none: ENOENT/);
  writeFileSync(join(folder, 'list'), '[1, 2]');
  expect(() => readClientConfig(join(folder, 'list'))).toThrow(
    /list: a client configuration must be an object/,
  );
});
