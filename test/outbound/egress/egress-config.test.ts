import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parseEgressConfig, readEgressConfig } from '../../../src/outbound/egress/egress-config.ts';

const folder = mkdtempSync(join(tmpdir(), 'egress-config-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string): string => {
  writeFileSync(join(folder, name), name);
  return join(folder, name);
};
const CERTS = { clientCert: file('cert'), clientKey: file('key') };

const parse = (selections: unknown, more: object = {}) =>
  parseEgressConfig(
    Buffer.from(
      JSON.stringify({
        apiVersion: 'apiserver.k8s.io/v1beta1',
        kind: 'EgressSelectorConfiguration',
        egressSelections: selections,
        ...more,
      }),
    ),
  );
const select = (proxyProtocol: string, transport?: object, name = 'cluster') => [
  { name, connection: { proxyProtocol, ...(transport === undefined ? {} : { transport }) } },
];

test('each way is read, and the store has a name in either dialect', () => {
  const uds = { udsName: '/run/k.sock' };
  const url = 'https://proxy.example:8131';
  expect(parse(select('Direct'))).toEqual(new Map([['cluster', { protocol: 'Direct' }]]));
  expect(parse(select('GRPC', { uds }, 'Cluster'))).toEqual(
    new Map([['cluster', { protocol: 'GRPC', socketPath: '/run/k.sock' }]]),
  );
  const connect = (name: string) =>
    parse(select('HTTPConnect', { tcp: { url, tlsConfig: { ...CERTS, caBundle: file('ca') } } }, name));
  expect(connect('etcd')).toEqual(connect('kvstore'));
  expect(connect('kvstore').get('kvstore')).toEqual({
    protocol: 'HTTPConnect',
    proxy: {
      ...{ kind: 'tcp', host: 'proxy.example', port: 8131 },
      tls: { ca: 'ca', cert: 'cert', key: 'key', serverName: '' },
    },
  });
  expect(parse(select('HTTPConnect', { tcp: { url: 'http://[::1]' } }, 'controlplane'))).toEqual(
    new Map([
      [
        'controlplane',
        { protocol: 'HTTPConnect', proxy: { kind: 'tcp', host: '::1', port: 80, tls: undefined } },
      ],
    ]),
  );
  expect(parse([], { apiVersion: 'apiserver.cluster.io/v1beta1' }).size).toBe(0);
});

const uds = { udsName: '/s' };
const tls = (tlsConfig?: object) => select('HTTPConnect', { tcp: { url: 'https://p:1', tlsConfig } });

test.each([
  [
    'an unknown protocol',
    select('SOCKS'),
    'service.connection.protocol: Unsupported value: "SOCKS": supported values: "Direct", "HTTPConnect", "GRPC"',
  ],
  [
    'a transport that is not needed',
    select('Direct', { uds }),
    'service.connection.transport: Invalid value: "direct": config must be absent for direct connect',
  ],
  [
    'CONNECT without a transport',
    select('HTTPConnect'),
    'service.connection.transport: Required value: transport must be set for HTTPConnect',
  ],
  [
    'GRPC without a transport',
    select('GRPC'),
    'service.connection.transport: Required value: transport must be set for GRPC',
  ],
  [
    'GRPC over TCP',
    select('GRPC', { tcp: { url: 'http://p' } }),
    'service.connection.uds: Required value: UDS must be set with GRPC',
  ],
  [
    'neither TCP nor a socket',
    select('HTTPConnect', {}),
    'service.connection.tcp: Required value: One of TCP or UDS must be set',
  ],
  ['both', select('HTTPConnect', { uds, tcp: { url: 'http://p' } }), 'TCP and UDS cannot both be set'],
  [
    'a socket without a name',
    select('GRPC', { uds: {} }),
    'service.connection.udsName: Invalid value: "nil": must be present for UDS connections',
  ],
  [
    'another scheme',
    select('HTTPConnect', { tcp: { url: 'socks://p' } }),
    'service.connection.url: Invalid value: "socks://p": supported connection protocols are http:// and https://',
  ],
  [
    'certificates without TLS',
    select('HTTPConnect', { tcp: { url: 'http://p', tlsConfig: CERTS } }),
    'service.connection.tlsConfig: Invalid value: "nil": config must not be present when using HTTP',
  ],
  [
    'TLS without certificates',
    tls(),
    'service.connection.tlsConfig: Required value: TLSConfig must be present when using HTTPS',
  ],
  [
    'no certificate',
    tls({}),
    'service.connection.tlsConfig.clientCert: Invalid value: "nil": Using TLS requires clientCert',
  ],
  [
    'no key',
    tls({}),
    'service.connection.tlsConfig.clientKey: Invalid value: "nil": Using TLS requires requires clientKey',
  ],
  [
    'a certificate that is not there',
    tls({ ...CERTS, clientCert: '/none' }),
    'service.connection.tlsConfig.clientCert: Invalid value: "/none": TLS client cert does not exist',
  ],
  [
    'an authority that is not there',
    tls({ ...CERTS, caBundle: '/none' }),
    'service.connection.tlsConfig.caBundle: Invalid value: "/none": TLS config ca bundle does not exist',
  ],
  [
    'an unknown name',
    select('Direct', undefined, 'master'),
    'service.connection: Unsupported value: "master": supported values: "cluster", "controlplane", "etcd", "kvstore"',
  ],
  [
    'a name twice',
    [...select('Direct'), ...select('Direct')],
    'service.connection[1]: Duplicate value: "cluster"',
  ],
  [
    'the store twice',
    [...select('Direct', undefined, 'etcd'), ...select('Direct', undefined, 'kvstore')],
    'service.connection[1]: Duplicate value: "kvstore"',
  ],
  [
    'an unknown field',
    [{ name: 'cluster', connection: { proxyProtocol: 'Direct', port: 1 } }],
    'egressSelections[0].connection.port: unknown field',
  ],
])('%s is refused', (_, selections, message) => {
  expect(() => parse(selections)).toThrow(message);
});

test('another kind, another version and an absent file are refused', () => {
  expect(() => parse([], { kind: 'TracingConfiguration' })).toThrow('kind: Unsupported value');
  expect(() => parse([], { apiVersion: 'apiserver.k8s.io/v1' })).toThrow('apiVersion: Unsupported value');
  expect(() => readEgressConfig('/none/egress.yaml')).toThrow(
    'unable to read egress selector configuration from "/none/egress.yaml"',
  );
});
