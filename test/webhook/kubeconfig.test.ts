import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readKubeconfig } from '../../src/webhook/kubeconfig.ts';

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
  return readKubeconfig(path);
}

const SERVER = { server: 'https://hook.example:8443/audit?x=1' };

test('data stands in the file or in files it names, relative to itself', async () => {
  writeFileSync(join(folder, 'ca.pem'), 'CA');
  writeFileSync(join(folder, 'token'), 'secret\n');
  const data = (text: string): string => Buffer.from(text).toString('base64');
  const cluster = { ...SERVER, 'certificate-authority': 'ca.pem', 'tls-server-name': 'other' };
  const user = {
    'client-certificate-data': data('CERT'),
    'client-key-data': data('KEY'),
    tokenFile: 'token',
  };
  expect(await read(cluster, user)).toEqual({
    url: new URL(SERVER.server),
    ca: 'CA',
    certificate: 'CERT',
    key: 'KEY',
    serverName: 'other',
    insecure: false,
    authorization: 'Bearer secret',
  });
});

test('a token, or a name and password, become the Authorization header', async () => {
  expect((await read(SERVER, { token: 't' })).authorization).toBe('Bearer t');
  const basic = await read(SERVER, { username: 'u', password: 'p' });
  expect(basic.authorization).toBe('Basic dTpw');
  expect((await read(SERVER)).authorization).toBeUndefined();
});

test.each([
  [SERVER, {}, { 'current-context': '' }, 'it has no current-context'],
  [SERVER, {}, { contexts: [] }, 'it has no context "c"'],
  [SERVER, {}, { clusters: [] }, 'it has no cluster "k"'],
  [SERVER, {}, { users: [] }, 'it has no user "u"'],
  [{}, {}, {}, '"" is not the address of a server'],
  [{ server: 'ftp://x' }, {}, {}, '"ftp://x" is not the address of a server'],
  [{ ...SERVER, 'proxy-url': 'http://p' }, {}, {}, 'proxy-url is not supported'],
  [SERVER, { exec: { command: 'x' } }, {}, 'exec is not supported'],
  [SERVER, { 'client-certificate-data': 'eA==' }, {}, 'belong together'],
  [SERVER, { 'client-certificate': 'missing.pem' }, {}, 'ENOENT'],
])('%j, %j, %j is refused: %s', async (cluster, user, extra, message) => {
  await expect(read(cluster, user, extra)).rejects.toThrow(message);
});

test('a file that is missing or no kubeconfig is refused by its name', async () => {
  await expect(readKubeconfig(join(folder, 'none'))).rejects.toThrow(/none: ENOENT/);
  writeFileSync(join(folder, 'list'), '[1, 2]');
  await expect(readKubeconfig(join(folder, 'list'))).rejects.toThrow(/list: it has no current-context/);
});
