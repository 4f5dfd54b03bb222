// @module-tag long
import { existsSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../../kit/cluster.ts';
import { askHttp2, eventually, openHttp2, openTls } from '../../kit/connections.ts';
import { acceptedAuthorities } from '../../kit/handshake.ts';
import { selfSigned, type TestPair, writePair } from '../../kit/x509.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

let database: TestDatabase;
let cluster: Cluster;
let serving: TestPair;
let explicit: TestPair;
let wildcard: TestPair;
let named: TestPair;

beforeAll(async () => {
  database = await createTestDatabase();
  serving = await selfSigned('serving', ['localhost']);
  explicit = await selfSigned('explicit', ['named.example.org']);
  wildcard = await selfSigned('wildcard');
  named = await selfSigned('named.example.org', ['named.example.org', 'b.example.com']);
  const sni = (pair: TestPair, names = ''): string =>
    `--tls-sni-cert-key=${pair.certFile},${pair.keyFile}${names}`;
  cluster = await startCluster(database.url, [
    `--tls-cert-file=${serving.certFile}`,
    `--tls-private-key-file=${serving.keyFile}`,
    sni(wildcard, ':*.example.com'),
    sni(explicit, ':a.example.com,other.example.org'),
    sni(named),
    '--tls-min-version=VersionTLS12',
    '--tls-cipher-suites=TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
    '--http2-max-streams-per-connection=7',
    '--permit-port-sharing',
  ]);
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

async function subject(servername: string | undefined, options: ConnectionOptions = {}): Promise<string> {
  const socket = await openTls(cluster, { ...(servername === undefined ? {} : { servername }), ...options });
  const { CN } = socket.getPeerCertificate().subject;
  socket.destroy();
  return String(CN);
}

test('a name gets its certificate: explicit before extracted, exact before wildcard, else the serving one', async () => {
  expect(await subject(undefined)).toBe('serving');
  expect(await subject('nobody.test')).toBe('serving');
  expect(await subject('a.example.com')).toBe('explicit');
  expect(await subject('A.Example.COM')).toBe('explicit');
  expect(await subject('c.example.com')).toBe('wildcard');
  expect(await subject('b.example.com')).toBe('named.example.org');
  expect(await subject('x.y.example.com')).toBe('serving');
  expect(await subject('named.example.org')).toBe('named.example.org');
});

test('a cipher suite that was not chosen, and a version below the lowest, are refused; TLS 1.3 stays', async () => {
  const old = { maxVersion: 'TLSv1.2' } as const;
  await expect(openTls(cluster, { ...old, ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' })).rejects.toThrow(
    /handshake failure/,
  );
  const chosen = await openTls(cluster, old);
  expect(chosen.getCipher().standardName).toBe('TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384');
  chosen.destroy();
  await expect(
    openTls(cluster, { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }),
  ).rejects.toThrow(/protocol version/);
  const modern = await openTls(cluster);
  expect(modern.getProtocol()).toBe('TLSv1.3');
  modern.destroy();
});

test('clients learn how many streams a connection may have', async () => {
  const session = await openHttp2(cluster).catch(() => undefined);
  // The serving certificate here is not of the cluster's authority.
  expect(session).toBeUndefined();
  const socket = await openTls(cluster, { ALPNProtocols: ['h2'] });
  const { connect } = await import('node:http2');
  const own = connect('https://127.0.0.1', { createConnection: () => socket });
  await new Promise((resolve) => own.once('remoteSettings', resolve));
  expect(own.remoteSettings.maxConcurrentStreams).toBe(7);
  own.destroy();
});

test('files that change are taken within seconds, pairs that do not match are not, and connections stay', async () => {
  const open = await openTls(cluster);
  const second = await selfSigned('second');
  writePair(serving, { certificate: second.certificate, key: serving.key });
  await eventually(() =>
    expect(cluster.output.stderr).toContain('serving certificates could not be reloaded'),
  );
  expect(await subject(undefined)).toBe('serving');
  writePair(serving, second);
  await eventually(async () => expect(await subject(undefined)).toBe('second'));
  expect(await subject('nobody.test')).toBe('second');
  writePair(wildcard, await selfSigned('renewed'));
  await eventually(async () => expect(await subject('c.example.com')).toBe('renewed'));
  expect(open.destroyed).toBe(false);
  open.destroy();
});

test('every handshake names the authorities whose certificates are accepted, with every name that it asks for', async () => {
  const names = [undefined, 'nobody.test', 'a.example.com', 'c.example.com', 'named.example.org'];
  for (const name of names)
    expect([name, ...(await acceptedAuthorities(cluster.port, name))]).toEqual([name, 'pg-apiserver-ca']);
});

test('two servers may share one port', async () => {
  const other = await createTestDatabase();
  const port = `--secure-port=${cluster.port}`;
  await expect(startCluster(other.url, [port])).rejects.toThrow('another program has this port');
  const shared = await startCluster(other.url, ['--permit-port-sharing', port]);
  expect(shared.output.stdout).toContain(`serving on https://127.0.0.1:${cluster.port}`);
  await shared[Symbol.asyncDispose]();
  await other.drop();
});

test('without certificates a pair is made in --cert-dir, for every name the server has', {
  tags: 'long',
}, async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'pg-apiserver-certs-')), 'new');
  const other = await createTestDatabase();
  const own = await startCluster(other.url, [
    `--cert-dir=${folder}`,
    '--external-hostname=api.example.com',
    '--advertise-address=192.0.2.7',
    '--disable-http2-serving',
    '--tls-min-version=VersionTLS13',
  ]);
  expect(existsSync(join(folder, 'apiserver.crt'))).toBe(true);
  expect(statSync(join(folder, 'apiserver.key')).mode & 0o777).toBe(0o600);
  const socket = await openTls(own, { ALPNProtocols: ['h2', 'http/1.1'], rejectUnauthorized: true });
  expect(socket.alpnProtocol).toBe('http/1.1');
  const { subjectaltname } = socket.getPeerCertificate();
  for (const name of [
    'DNS:api.example.com',
    'IP Address:192.0.2.7',
    'IP Address:10.0.0.1',
    'DNS:kubernetes.default',
  ])
    expect(subjectaltname).toContain(name);
  socket.destroy();
  await expect(openTls(own, { maxVersion: 'TLSv1.2' })).rejects.toThrow(/protocol version/);
  const before = readFileSync(join(folder, 'apiserver.crt'), 'utf8');
  const addresses = (await own.request('GET', '/api')).json.serverAddressByClientCIDRs;
  expect(addresses[0].serverAddress).toBe(`api.example.com:${own.port}`);
  await own.stop();
  await own.start();
  expect(readFileSync(join(folder, 'apiserver.crt'), 'utf8')).toBe(before);
  await own[Symbol.asyncDispose]();
  await other.drop();
});

test('HTTP/2 answers where it is not disabled; profiles and compression can be', {
  tags: 'long',
}, async () => {
  const other = await createTestDatabase();
  const own = await startCluster(other.url, [
    '--profiling=false',
    '--feature-gates=APIResponseCompression=false,ComponentSLIs=false',
  ]);
  for (const path of ['/debug/pprof/', '/metrics/slis'])
    expect((await own.request('GET', path)).code).toBe(404);
  const path = '/api/v1/namespaces/default/configmaps';
  await own.request('POST', path, { metadata: { name: 'large' }, data: { text: 'x'.repeat(300_000) } });
  const plain = await own.request('GET', path, undefined, { 'accept-encoding': 'gzip' });
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(plain.json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toContain(
    'large',
  );
  const session = await openHttp2(own);
  expect((await askHttp2(session, '/version')).code).toBe(200);
  session.destroy();
  await own[Symbol.asyncDispose]();
  await other.drop();
});
