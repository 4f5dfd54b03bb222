// @module-tag long
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { base64, deny } from '../../kit/admission-webhook.ts';
import { type Cluster, startCluster } from '../../kit/cluster.ts';
import { Authority } from '../../kit/pki.ts';
import { type RemoteWebhook, startWebhook } from '../../kit/webhook-server.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

const CLUSTER_IP = '127.77.0.10';
const PATH = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';

let database: TestDatabase;
let cluster: Cluster;
let webhook: RemoteWebhook;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'webhook-services-'));
  const authority = await Authority.create('callers');
  const pair = await authority.issue({ subject: 'CN=the-api-server' });
  const at = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const names = ['hook.default.svc', 'outside.hooks.svc'];
  webhook = await startWebhook({ names, host: '0.0.0.0', clientCa: authority.pem });
  const users = [{ name: `*.hooks.svc:${webhook.port}`, user: { token: 'for-hooks' } }];
  const kubeConfigFile = at('users', JSON.stringify({ users }));
  const kind = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'WebhookAdmissionConfiguration' };
  const config = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AdmissionConfiguration',
    plugins: [{ name: 'ValidatingAdmissionWebhook', configuration: { ...kind, kubeConfigFile } }],
  };
  database = await createTestDatabase();
  cluster = await startCluster(database.url, [
    '--disable-admission-plugins=ServiceAccount',
    '--service-cluster-ip-range=127.77.0.0/24',
    `--proxy-client-cert-file=${at('client.crt', pair.cert)}`,
    `--proxy-client-key-file=${at('client.key', pair.key)}`,
    `--admission-control-config-file=${at('admission', JSON.stringify(config))}`,
  ]);
  webhook.respond = deny({ message: 'by service' });
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await webhook[Symbol.asyncDispose]();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

const hook = (service: object) => ({
  metadata: { name: 'services' },
  webhooks: [
    {
      name: 'hook.example.com',
      clientConfig: {
        service: { namespace: 'default', path: '/check', ...service },
        caBundle: base64(webhook.ca),
      },
      rules: [
        {
          apiGroups: [''],
          apiVersions: ['v1'],
          resources: ['configmaps', 'pods/eviction'],
          operations: ['CREATE'],
        },
      ],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ],
});

async function answerThrough(service: object, through = cluster): Promise<string> {
  await through.request('DELETE', `${PATH}/services`);
  await through.request('POST', PATH, hook(service));
  let message = '';
  await expect
    .poll(async () => {
      const body = { metadata: { generateName: 'map-' } };
      ({ message = '' } = (
        await through.request('POST', '/api/v1/namespaces/default/configmaps', body)
      ).json);
      return message;
    })
    .not.toBe('');
  return message;
}

/** The name in the certificate of who called last. */
const callerOf = ({ requests }: RemoteWebhook): string | string[] | undefined => {
  const socket = requests.at(-1)?.socket as TLSSocket | undefined;
  return socket?.getPeerCertificate().subject?.CN;
};

const DENIED = 'admission webhook "hook.example.com" denied the request: by service';

test('a webhook that is a service is called at its cluster IP, by its name, with the certificate of the flags', async () => {
  const called =
    'Internal error occurred: failed calling webhook "hook.example.com": failed to call webhook: ';
  const port = webhook.port;
  expect(await answerThrough({ name: 'hook', port })).toBe(
    `${called}Post "https://hook.default.svc:${port}/check?timeout=10s": service "hook" not found`,
  );
  const spec = { clusterIP: CLUSTER_IP, ports: [{ port }] };
  await cluster.request('POST', '/api/v1/namespaces/default/services', { metadata: { name: 'hook' }, spec });
  expect(await answerThrough({ name: 'hook', port })).toBe(DENIED);
  expect(webhook.requests.at(-1)?.url).toBe('/check?timeout=10s');
  expect(callerOf(webhook)).toBe('the-api-server');
  expect(await answerThrough({ name: 'hook', port: port === 1 ? 2 : 1 })).toMatch(
    /no service port 1 found for service "hook"$/,
  );
});

test('a service that is elsewhere is called there, and a user that is configured for it goes before the certificate', async () => {
  const { port } = webhook;
  const spec = { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] };
  await cluster.kubectl('create namespace hooks');
  await cluster.request('POST', '/api/v1/namespaces/hooks/services', { metadata: { name: 'outside' }, spec });
  expect(await answerThrough({ namespace: 'hooks', name: 'outside', port })).toBe(DENIED);
  expect(webhook.requests.at(-1)?.headers.authorization).toBe('Bearer for-hooks');
  expect(callerOf(webhook)).toBeUndefined();
});

test('with --enable-aggregator-routing a webhook is called at the endpoints of its service', async () => {
  const flags = ['--disable-admission-plugins=ServiceAccount', '--enable-aggregator-routing'];
  await using routing = await startCluster(database.url, flags);
  expect(await answerThrough({ name: 'hook', port: webhook.port }, routing)).toMatch(
    /no endpoints available for service "hook"$/,
  );
});

test('an eviction is asked about as what it is', async () => {
  await answerThrough({ name: 'hook', port: webhook.port });
  await cluster.kubectl('run p --image=i');
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } };
  const path = '/api/v1/namespaces/default/pods/p/eviction';
  expect((await cluster.request('POST', path, eviction)).json.message).toBe(DENIED);
  expect(webhook.received.at(-1).request).toMatchObject({
    kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    subResource: 'eviction',
    operation: 'CREATE',
    name: 'p',
    object: { kind: 'Eviction' },
  });
});
