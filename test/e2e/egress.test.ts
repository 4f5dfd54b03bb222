// @module-tag long
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allow, base64 } from '../kit/admission-webhook.ts';
import { createStage, type Stage } from '../kit/agent/stage.ts';
import {
  type EgressProxy,
  socketFolder,
  startConnectProxy,
  startTunnelProxy,
} from '../kit/egress-proxies.ts';
import { Authority } from '../kit/pki.ts';
import { type RemoteWebhook, startWebhook } from '../kit/webhook-server.ts';

/** A server that reaches everything through proxies, and addresses that only they know. */

const folder = socketFolder();
const cluster = new Map<string, number>();
const controlplane = new Map<string, number>();
let proxies: { cluster: EgressProxy; controlplane: EgressProxy; kvstore: EgressProxy };
let stage: Stage;
let hook: RemoteWebhook;
let collector: Server;

beforeAll(async () => {
  const authority = await Authority.create('CN=proxies');
  const serving = await authority.issue({ subject: 'CN=proxy', serves: true });
  const client = await authority.issue({ subject: 'CN=apiserver' });
  const write = (name: string, text: string): string => {
    writeFileSync(folder.at(name), text);
    return folder.at(name);
  };
  // The database is where its URL says, for this proxy too.
  const anywhere = { get: (address: string) => Number(address.split(':').at(-1)) };
  const secure = await startConnectProxy(controlplane, { tls: { ...serving, ca: authority.pem } });
  proxies = {
    cluster: await startTunnelProxy(folder.at('grpc'), cluster),
    controlplane: secure,
    kvstore: await startConnectProxy(anywhere, { path: folder.at('connect') }),
  };
  const tlsConfig = {
    caBundle: write('ca', authority.pem),
    clientCert: write('cert', client.cert),
    clientKey: write('key', client.key),
  };
  const selection = (name: string, proxyProtocol: string, transport: object) => ({
    name,
    connection: { proxyProtocol, transport },
  });
  const file = write(
    'egress.yaml',
    JSON.stringify({
      apiVersion: 'apiserver.cluster.io/v1beta1',
      kind: 'EgressSelectorConfiguration',
      egressSelections: [
        selection('cluster', 'GRPC', { uds: { udsName: folder.at('grpc') } }),
        selection('controlplane', 'HTTPConnect', {
          tcp: { url: `https://127.0.0.1:${secure.port}`, tlsConfig },
        }),
        selection('kvstore', 'HTTPConnect', { uds: { udsName: folder.at('connect') } }),
      ],
    }),
  );
  hook = await startWebhook({ names: ['hook.invalid', 'hook.default.svc'] });
  hook.respond = allow;
  collector = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  controlplane.set('collector.invalid:4317', (collector.address() as AddressInfo).port);
  const tracing = write(
    'tracing.yaml',
    JSON.stringify({
      apiVersion: 'apiserver.config.cluster.io/v1beta1',
      kind: 'TracingConfiguration',
      endpoint: 'collector.invalid:4317',
      samplingRatePerMillion: 1_000_000,
    }),
  );
  stage = await createStage('127.0.0.1', [
    ...[`--egress-selector-config-file=${file}`, `--tracing-config-file=${tracing}`],
    '--sandbox-proxied-pages=false',
  ]);
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await hook[Symbol.asyncDispose]();
  collector.close();
  for (const proxy of Object.values(proxies)) await proxy[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

test('all connections to the database go by its proxy, the stream of changes too', async () => {
  const { asked, open } = proxies.kvstore;
  expect(new Set(asked).size).toBe(1);
  // Commits, reads and the stream have connections of their own.
  expect(open.size).toBeGreaterThan(3);
  const watch = stage.cluster.watch('/api/v1/namespaces/default/configmaps?watch=1');
  await watch.reached(1);
  await stage.cluster.request('POST', '/api/v1/namespaces/default/configmaps', {
    metadata: { name: 'seen' },
  });
  await watch.reached(2);
  watch.stop();
});

test('a node’s agent is reached through the tunnel, for logs and for commands', async () => {
  cluster.set('192.0.2.10:10250', stage.agent.port);
  await stage.addNode('far', { host: '192.0.2.10', port: 10250 });
  await stage.addPod('away', { node: 'far' });
  const { code, text } = await stage.cluster.request(
    'GET',
    '/api/v1/namespaces/default/pods/away/log?insecureSkipTLSVerifyBackend=true',
  );
  expect([code, text]).toEqual([200, 'first\nsecond\nthird\n']);
  expect(proxies.cluster.asked.at(-1)).toBe('tcp:192.0.2.10:10250');
  cluster.set('127.0.0.1:1', stage.agent.port);
  await stage.addNode('near', { host: '127.0.0.1', port: 1 });
  await stage.addPod('shell', { node: 'near' });
  const said = await stage.cluster.kubectl('exec shell -- echo hello');
  expect(said).toMatchObject({ code: 0, stdout: 'hello\n' });
});

test('a page of a pod comes through the tunnel, and without a sandbox where --sandbox-proxied-pages is false', async () => {
  const page = createHttpServer((_, outgoing) => outgoing.end('<p>')).listen(0, '127.0.0.1');
  await once(page, 'listening');
  try {
    cluster.set('192.0.2.30:8080', (page.address() as AddressInfo).port);
    await stage.addPod('page', { ip: '192.0.2.30', ports: [8080] });
    const answer = await stage.cluster.request('GET', '/api/v1/namespaces/default/pods/page:8080/proxy/');
    expect([answer.code, answer.text]).toEqual([200, '<p>']);
    expect(answer.headers).not.toHaveProperty('content-security-policy');
  } finally {
    page.close();
  }
});

test('a node that the tunnel does not reach is an error with its reason', async () => {
  await stage.addNode('nowhere', { host: '192.0.2.99', port: 10250 });
  await stage.addPod('lost', { node: 'nowhere' });
  const { code, text } = await stage.cluster.request('GET', '/api/v1/namespaces/default/pods/lost/log');
  expect(code).toBe(500);
  expect(text).toContain('no such host');
});

test('a webhook with a URL goes by the control plane’s proxy, one of a service by the cluster’s', async () => {
  const service = await stage.cluster.request('POST', '/api/v1/namespaces/default/services', {
    metadata: { name: 'hook' },
    spec: { ports: [{ port: 443 }] },
  });
  const address = `${service.json.spec.clusterIP}:443`;
  cluster.set(address, hook.port);
  controlplane.set('hook.invalid:443', hook.port);
  const configure = (name: string, clientConfig: object) => ({
    name,
    clientConfig: { ...clientConfig, caBundle: base64(hook.ca) },
    rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
    ...{ sideEffects: 'None', admissionReviewVersions: ['v1'] },
  });
  const made = await stage.cluster.request(
    'POST',
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    {
      metadata: { name: 'hooks' },
      webhooks: [
        configure('url.example.com', { url: 'https://hook.invalid/check' }),
        configure('service.example.com', { service: { namespace: 'default', name: 'hook', path: '/check' } }),
      ],
    },
  );
  expect(made.code, made.text).toBe(201);
  await expect
    .poll(async () => {
      const maps = '/api/v1/namespaces/default/configmaps';
      await stage.cluster.request('POST', maps, { metadata: { generateName: 'checked-' } });
      return hook.requests.length;
    })
    .toBeGreaterThanOrEqual(2);
  expect(proxies.controlplane.asked).toContain('hook.invalid:443');
  expect(proxies.cluster.asked).toContain(`tcp:${address}`);
});

test('traces go to their collector by the control plane’s proxy', async () => {
  // Spans are sent every five seconds, the first while the tests before this one run.
  const patience = { timeout: 60_000, interval: 100 };
  await expect.poll(() => proxies.controlplane.asked, patience).toContain('collector.invalid:4317');
});

test('ways are measured', async () => {
  const { text } = await stage.cluster.request('GET', '/metrics');
  expect(text).toMatch(/apiserver_egress_dialer_dial_start_total\{protocol="grpc",transport="uds"\} [1-9]/);
  expect(text).toMatch(
    /apiserver_egress_dialer_dial_failure_count\{protocol="grpc",transport="uds",stage="proxy"\} 1/,
  );
  expect(text).toContain(
    'apiserver_egress_dialer_dial_duration_seconds_count{protocol="http_connect",transport="tcp"}',
  );
});
