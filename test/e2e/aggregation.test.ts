// @module-tag long
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { connectionOptions } from '../kit/connection.ts';
import { definitionOf } from '../kit/definitions.ts';
import { answerDiscovery, type ExtensionServer, json, startExtension } from '../kit/extension-server.ts';
import { Authority } from '../kit/pki.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** Other API servers behind this one. */

const CLUSTER_IP = '127.78.0.10';
const PATH = '/apis/apiregistration.k8s.io/v1/apiservices';
const CRONS = '/apis/stable.example.com/v1/namespaces/default/crons';
const FLUNDERS = '/apis/wardle.example.com/v1/namespaces/default/flunders';
const VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];
const VERSIONS = {
  'wardle.example.com/v1': [
    { name: 'flunders', singularName: 'flunder', namespaced: true, kind: 'Flunder', verbs: VERBS },
  ],
};

let databases: TestDatabase[];
let cluster: Cluster;
/** Another one of the servers under test, with a database of its own. */
let behind: Cluster;
let extension: ExtensionServer;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'aggregation-'));
  const authority = await Authority.create('proxies');
  const pair = await authority.issue({ subject: 'CN=front-proxy-client' });
  const at = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  extension = await startExtension({
    names: ['api.wardle.svc'],
    host: CLUSTER_IP,
    clientCa: authority.pem,
    versions: VERSIONS,
  });
  databases = await Promise.all([createTestDatabase(), createTestDatabase()]);
  const flags = [
    '--authorization-mode=RBAC',
    '--disable-admission-plugins=ServiceAccount',
    `--requestheader-client-ca-file=${at('ca.crt', authority.pem)}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  ];
  [cluster, behind] = await Promise.all([
    startCluster(databases[0]?.url ?? '', [
      ...flags,
      '--service-cluster-ip-range=127.78.0.0/24',
      `--proxy-client-cert-file=${at('client.crt', pair.cert)}`,
      `--proxy-client-key-file=${at('client.key', pair.key)}`,
    ]),
    startCluster(databases[1]?.url ?? '', flags),
  ]);
  await cluster.request('POST', '/api/v1/namespaces', { metadata: { name: 'wardle' } });
  await register();
  await registerBehind();
  const names = 'apiservice/v1.wardle.example.com apiservice/v1.stable.example.com';
  await cluster.kubectl(`wait --for=condition=Available --timeout=30s ${names}`);
});

afterAll(async () => {
  await Promise.all([cluster, behind, extension].map((one) => one[Symbol.asyncDispose]()));
  await Promise.all(databases.map((database) => database.drop()));
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(() => {
  extension.seen.length = 0;
  extension.answer = (seen, response) => answerDiscovery(VERSIONS, seen, response);
});

/** A service, its endpoints, and the API service that leads there. */
async function register(): Promise<void> {
  const { port } = extension;
  const metadata = { name: 'api' };
  const spec = { clusterIP: CLUSTER_IP, ports: [{ port }] };
  await cluster.request('POST', '/api/v1/namespaces/wardle/services', { metadata, spec });
  const subsets = [{ addresses: [{ ip: '10.1.1.1' }], ports: [{ port }] }];
  await cluster.request('POST', '/api/v1/namespaces/wardle/endpoints', { metadata, subsets });
  const made = await cluster.request('POST', PATH, apiService({ caBundle: base64(extension.ca) }));
  expect(made.code).toBe(201);
}

/** A whole API server behind a name, with a resource that a definition there has made. */
async function registerBehind(): Promise<void> {
  await behind.request(
    'POST',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    definitionOf({ plural: 'crons', kind: 'Cron', shortNames: ['ct'] }),
  );
  const { port } = behind;
  await cluster.request('POST', '/api/v1/namespaces/wardle/services', {
    metadata: { name: 'behind' },
    spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] },
  });
  await cluster.request('POST', '/apis/apiregistration.cluster.io/v1/apiservices', {
    metadata: { name: 'v1.stable.example.com' },
    spec: {
      ...{ group: 'stable.example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 15 },
      service: { namespace: 'wardle', name: 'behind', port },
      insecureSkipTLSVerify: true,
    },
  });
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const apiService = (spec: object = {}, version = 'v1') => ({
  metadata: { name: `${version}.wardle.example.com` },
  spec: {
    ...{ group: 'wardle.example.com', version, groupPriorityMinimum: 2000, versionPriority: 200 },
    service: { namespace: 'wardle', name: 'api', port: extension.port },
    ...spec,
  },
});

async function reached(name: string, condition: object): Promise<void> {
  await expect
    .poll(async () => (await cluster.request('GET', `${PATH}/${name}`)).json.status?.conditions?.[0], {
      timeout: 60_000,
      interval: 20,
    })
    .toMatchObject(condition);
}

test('every group version of the server itself has an API service, with the priority that Kubernetes gives it', async () => {
  const { items } = (await cluster.request('GET', PATH)).json;
  const found = new Map(items.map((api: { metadata: { name: string } }) => [api.metadata.name, api]));
  expect(found.get('v1.')).toMatchObject({
    metadata: { labels: { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' } },
    spec: { version: 'v1', groupPriorityMinimum: 18000, versionPriority: 1 },
    status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] },
  });
  expect(found.get('v2.autoscaling')).toMatchObject({
    spec: { group: 'autoscaling', version: 'v2', groupPriorityMinimum: 17500, versionPriority: 30 },
  });
  expect(found.get('v1.apiregistration.k8s.io')).toBeUndefined();
});

test('a request is passed on in the name of its caller, with any headers of the caller', async () => {
  extension.answer = (_, response) => json(response.setHeader('x-own', 'yes'), { kind: 'Flunder' }, 201);
  const headers = {
    'x-remote-user': 'somebody-else',
    'x-remote-group': 'nobody',
    'x-remote-extra-scopes': 'all',
    'audit-id': 'one-of-my-own',
    'x-kept': 'kept',
    'impersonate-user': 'zoë',
    'impersonate-group': 'system:masters',
    'impersonate-extra-example.com%2fteam': 'a,b',
  };
  const answer = await cluster.request('POST', `${FLUNDERS}?dryRun=All&x=%2F`, { kind: 'Flunder' }, headers);
  expect(answer).toMatchObject({ code: 201, json: { kind: 'Flunder' } });
  expect(answer.headers['x-own']).toBe('yes');
  const [seen] = extension.seen;
  expect(seen).toMatchObject({
    method: 'POST',
    url: `${FLUNDERS}?dryRun=All&x=%2F`,
    caller: 'front-proxy-client',
    body: '{"kind":"Flunder"}',
  });
  const sent = Object.fromEntries(
    Object.entries(seen?.headers ?? {}).filter(([name]) =>
      /^(x-|audit|impersonate|authorization|host)/.test(name),
    ),
  );
  expect(sent).toEqual({
    host: `${CLUSTER_IP}:${extension.port}`,
    'audit-id': answer.headers['audit-id'],
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-host': `127.0.0.1:${cluster.port}`,
    'x-forwarded-proto': 'https',
    'x-forwarded-uri': FLUNDERS,
    'x-kept': 'kept',
    'x-remote-user': Buffer.from('zoë').toString('latin1'),
    'x-remote-group': 'system:masters, system:authenticated',
    'x-remote-extra-example.com%2fteam': 'a,b',
  });
});

test('a watch is passed on as it happens, and its end at the client is its end at the other server', async () => {
  const begun = Promise.withResolvers<ServerResponse>();
  extension.answer = (_, response) =>
    begun.resolve(response.writeHead(200, { 'content-type': 'application/json' }));
  const watch = cluster.watch(`${FLUNDERS}?watch=true`);
  const response = await begun.promise;
  for (const name of ['a', 'b']) {
    response.write(`${JSON.stringify({ type: 'ADDED', object: { metadata: { name } } })}\n`);
    await watch.reached(name === 'a' ? 1 : 2);
  }
  expect(watch.events.map(({ object }) => object.metadata.name)).toEqual(['a', 'b']);
  const ended = once(response, 'close');
  watch.stop();
  await ended;
});

test('a connection that changes its protocol is passed on with the name of its caller', async () => {
  const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-remote-user': 'somebody-else' };
  const options = {
    ...connectionOptions(cluster),
    host: '127.0.0.1',
    port: cluster.port,
    path: `${FLUNDERS}/a/exec`,
    headers,
  };
  const asked = httpsRequest({ ...options, method: 'POST' }).end();
  const [response, socket] = await once(asked, 'upgrade');
  expect(response.headers.upgrade).toBe('SPDY/3.1');
  socket.write('hello');
  let heard = '';
  for await (const chunk of socket) {
    heard += String(chunk);
    if (heard.endsWith('hello')) break;
  }
  expect(heard).toBe('kubernetes-admin\nhello');
});

test('a redirect is refused, because it would lead the caller away from what was authorized', async () => {
  extension.answer = (_, response) => void response.writeHead(302, { location: '/apis' }).end('elsewhere');
  expect(await cluster.request('GET', FLUNDERS)).toMatchObject({
    code: 502,
    text: 'the backend attempted to redirect this request, which is not permitted\n',
  });
});

test('an answer that breaks off ends, and the server goes on', async () => {
  extension.answer = (_, response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('half', () => response.destroy());
  };
  await expect(cluster.request('GET', FLUNDERS)).rejects.toThrow();
  extension.answer = (_, response) => json(response, {});
  expect((await cluster.request('GET', FLUNDERS)).code).toBe(200);
});

test('a server whose certificate is not the one that its API service asks for gets no request', async () => {
  const { ca } = await startAuthority();
  const name = 'v2.wardle.example.com';
  await cluster.request('POST', PATH, apiService({ caBundle: base64(ca) }, 'v2'));
  extension.answer = (_, response) => json(response, {});
  await reached(name, { status: 'True' });
  const path = '/apis/wardle.example.com/v2/flunders';
  expect(await cluster.request('GET', path)).toMatchObject({
    code: 503,
    text: 'error trying to reach service: tls: failed to verify certificate: x509: certificate signed by unknown authority\n',
  });
  expect(extension.seen).toEqual([]);
  const insecure = { spec: { caBundle: null, insecureSkipTLSVerify: true } };
  const merge = { 'content-type': 'application/merge-patch+json' };
  await cluster.request('PATCH', `${PATH}/${name}`, insecure, merge);
  await expect.poll(async () => (await cluster.request('GET', path)).code).toBe(200);
  await cluster.request('DELETE', `${PATH}/${name}`);
  await expect.poll(async () => (await cluster.request('GET', path)).code).toBe(404);
});

const startAuthority = async (): Promise<{ ca: string }> => ({ ca: (await Authority.create('others')).pem });

/** A change of its service makes that a server is looked at now, and not within half a minute. */
const hurry = (): Promise<unknown> =>
  cluster.request(
    'PATCH',
    '/api/v1/namespaces/wardle/services/api',
    { metadata: { annotations: { looked: String(Math.random()) } } },
    { 'content-type': 'application/merge-patch+json' },
  );

const AGGREGATED = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' };

/** What aggregated discovery says of the first version of the group. */
async function shown(): Promise<unknown> {
  const { items } = (await cluster.request('GET', '/apis', undefined, AGGREGATED)).json;
  const found = items.find(
    ({ metadata }: { metadata: { name: string } }) => metadata.name === 'wardle.example.com',
  );
  return found?.versions[0];
}

test('what another server serves is found like what this one serves', async () => {
  const [resource] = VERSIONS['wardle.example.com/v1'];
  await expect.poll(shown).toMatchObject({ freshness: 'Current', resources: [{ resource: resource?.name }] });
  expect((await cluster.kubectl('api-resources --api-group=wardle.example.com --no-headers')).stdout).toMatch(
    /^flunders +wardle\.example\.com\/v1 +true +Flunder\n$/,
  );
  const flunder = { kind: 'Flunder', apiVersion: 'wardle.example.com/v1', metadata: { name: 'a' } };
  extension.answer = (seen, response) =>
    seen.url.startsWith(FLUNDERS) ? json(response, flunder) : answerDiscovery(VERSIONS, seen, response);
  expect((await cluster.kubectl('get flunders a -o name')).stdout).toBe('flunder.wardle.example.com/a\n');
});

test('a dead server is unavailable for its own paths alone, and is found again', async () => {
  await extension.stop();
  await hurry();
  const url = `https://${CLUSTER_IP}:${extension.port}/apis/wardle.example.com/v1`;
  const why = `dial tcp ${CLUSTER_IP}:${extension.port}: connect: connection refused`;
  await reached('v1.wardle.example.com', {
    status: 'False',
    reason: 'FailedDiscoveryCheck',
    message: `failing or missing response from ${url}: Get "${url}": ${why}`,
  });
  expect(await cluster.request('GET', FLUNDERS)).toMatchObject({ code: 503, text: 'service unavailable\n' });
  expect((await cluster.request('GET', '/api/v1/namespaces/default')).code).toBe(200);
  expect((await cluster.request('GET', '/apis/wardle.example.com/v1')).code).toBe(503);
  const { groups } = (await cluster.request('GET', '/apis')).json;
  expect(groups).toContainEqual(expect.objectContaining({ name: 'wardle.example.com' }));
  await expect.poll(shown).toMatchObject({ freshness: 'Stale', resources: [{ resource: 'flunders' }] });
  const { text } = await cluster.request('GET', '/metrics');
  expect(text).toContain('aggregator_unavailable_apiservice{name="v1.wardle.example.com"} 1\n');
  expect(text).toContain('aggregator_unavailable_apiservice{name="v1.apps"} 0\n');
  expect(text).toContain(
    'aggregator_unavailable_apiservice_total{name="v1.wardle.example.com",reason="FailedDiscoveryCheck"} 1\n',
  );
  expect(await cluster.kubectl('get apiservices v1.wardle.example.com')).toMatchObject({
    stdout: expect.stringContaining('wardle/api   False (FailedDiscoveryCheck)'),
  });
  await extension.start();
  // Nothing tells that it is there again, but it is tried again soon.
  await reached('v1.wardle.example.com', { status: 'True', reason: 'Passed' });
});

test('conditions that a client writes into the status stay, and the condition Available is written again', async () => {
  const name = 'v1.wardle.example.com';
  const own = { type: 'Checked', status: 'True', reason: 'ByHand', message: '' };
  const merge = { 'content-type': 'application/merge-patch+json' };
  await cluster.request('PATCH', `${PATH}/${name}/status`, { status: { conditions: [own] } }, merge);
  const types = async (): Promise<string[]> =>
    (await cluster.request('GET', `${PATH}/${name}`)).json.status.conditions.map(
      ({ type }: { type: string }) => type,
    );
  await expect.poll(types, { timeout: 60_000 }).toEqual(['Checked', 'Available']);
  await cluster.request('PATCH', `${PATH}/${name}/status`, { status: { conditions: [] } }, merge);
  await reached(name, { type: 'Available', status: 'True' });
});

test('the status says which object is missing on the way to a server', async () => {
  const name = 'v3.wardle.example.com';
  const service = { namespace: 'wardle', name: 'none', port: 443 };
  await cluster.request('POST', PATH, apiService({ service, insecureSkipTLSVerify: true }, 'v3'));
  const says = (reason: string, message: string): Promise<void> =>
    reached(name, { status: 'False', reason, message });
  await says('ServiceNotFound', 'service/none in "wardle" is not present');
  const services = '/api/v1/namespaces/wardle/services';
  const spec = { ports: [{ name: 'web', port: 80 }] };
  await cluster.request('POST', services, { metadata: { name: 'none' }, spec });
  await says('ServicePortError', 'service/none in "wardle" is not listening on port 443');
  const moved = { spec: { ports: [{ name: 'web', port: 443 }] } };
  const merge = { 'content-type': 'application/merge-patch+json' };
  await cluster.request('PATCH', `${services}/none`, moved, merge);
  await says('EndpointsNotFound', 'cannot find endpoints for service/none in "wardle"');
  const endpoints = { metadata: { name: 'none' }, subsets: [] };
  await cluster.request('POST', '/api/v1/namespaces/wardle/endpoints', endpoints);
  await says(
    'MissingEndpoints',
    'endpoints for service/none in "wardle" have no addresses with port name "web"',
  );
  await cluster.request('DELETE', `${PATH}/${name}`);
});

test('a group version whose API service was deleted is served and not listed, until the service is made again', async () => {
  const { metadata, spec } = (await cluster.request('GET', `${PATH}/v1.autoscaling`)).json;
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const listed = async (): Promise<unknown> => {
    const [plain, one, aggregated] = await Promise.all([
      cluster.request('GET', '/apis'),
      cluster.request('GET', '/apis/autoscaling'),
      cluster.request('GET', '/apis', undefined, { accept }),
    ]);
    const isAutoscaling = (group: { name?: string; metadata?: { name: string } }): boolean =>
      (group.name ?? group.metadata?.name) === 'autoscaling';
    return [plain.json.groups.find(isAutoscaling), one.json, aggregated.json.items.find(isAutoscaling)].map(
      ({ versions }) => versions.map(({ version }: { version: string }) => version),
    );
  };
  const both = ['v2', 'v1'];
  expect(await listed()).toEqual([both, both, both]);
  expect((await cluster.request('DELETE', `${PATH}/v1.autoscaling`)).code).toBe(200);
  await expect.poll(listed).toEqual([['v2'], ['v2'], ['v2']]);
  const served = ['/apis/autoscaling/v1', '/apis/autoscaling/v1/horizontalpodautoscalers'];
  for (const path of served) expect((await cluster.request('GET', path)).code, path).toBe(200);
  expect((await cluster.request('GET', `${PATH}/v1.autoscaling`)).code).toBe(404);
  const { name, labels } = metadata;
  expect((await cluster.request('POST', PATH, { metadata: { name, labels }, spec })).code).toBe(201);
  await expect.poll(listed).toEqual([both, both, both]);
});

test('a definition has an API service as long as it is there, and one that is changed is mended', async () => {
  const name = 'v1.local.example.com';
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const conditions = async (): Promise<unknown> =>
    (await cluster.request('GET', `${PATH}/${name}`)).json.spec;
  const cron = definitionOf({ group: 'local.example.com', plural: 'crons', kind: 'Cron' });
  await cluster.request('POST', definitions, cron);
  const spec = {
    group: 'local.example.com',
    version: 'v1',
    groupPriorityMinimum: 1000,
    versionPriority: 100,
  };
  await expect.poll(conditions).toEqual(spec);
  const merge = { 'content-type': 'application/merge-patch+json' };
  await cluster.request('PATCH', `${PATH}/${name}`, { spec: { versionPriority: 7 } }, merge);
  await expect.poll(conditions).toEqual(spec);
  await cluster.request('DELETE', `${PATH}/${name}`);
  await expect.poll(conditions).toEqual(spec);
  await cluster.request('DELETE', `${definitions}/crons.local.example.com`);
  await expect.poll(conditions).toBeUndefined();
});

test('kubectl works with the resources of another such server as with those of this one', async () => {
  await expect
    .poll(async () => (await cluster.request('GET', '/openapi/v3')).json.paths['apis/stable.example.com/v1'])
    .toBeDefined();
  const cron = { apiVersion: 'stable.example.com/v1', kind: 'Cron', metadata: { name: 'a' }, size: 1 };
  const watch = cluster.watch(`${CRONS}?watch=true`);
  await expect(cluster.kubectl('create -f -', JSON.stringify(cron))).resolves.toMatchObject({
    stdout: 'cron.stable.example.com/a created\n',
  });
  await watch.reached(1);
  await cluster.kubectl('apply --server-side --force-conflicts -f -', JSON.stringify({ ...cron, size: 2 }));
  await watch.reached(2);
  watch.stop();
  expect(watch.events.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED']);
  expect((await behind.request('GET', `${CRONS}/a`)).json).toMatchObject({ size: 2 });
  expect((await cluster.kubectl('explain ct')).stdout).toContain('KIND:       Cron');
  expect((await cluster.kubectl('delete ct a')).stdout).toBe('cron.stable.example.com "a" deleted\n');
  const { definitions, paths } = (await cluster.request('GET', '/openapi/v2')).json;
  expect(definitions['com.example.stable.v1.Cron']).toBeDefined();
  expect(paths['/apis/stable.example.com/v1/crons']).toBeDefined();
});

test('a namespace that ends is emptied on other servers too, and waits for one that does not answer', async () => {
  const ending = '/api/v1/namespaces/ending';
  const path = '/apis/stable.example.com/v1/namespaces/ending/crons';
  for (const one of [cluster, behind])
    await one.request('POST', '/api/v1/namespaces', { metadata: { name: 'ending' } });
  await cluster.request('POST', path, { metadata: { name: 'a' } });
  await extension.stop();
  await hurry();
  await reached('v1.wardle.example.com', { status: 'False' });
  await cluster.request('DELETE', ending);
  await expect.poll(async () => (await behind.request('GET', path)).json.items).toEqual([]);
  const failure = {
    ...{ type: 'NamespaceDeletionDiscoveryFailure', status: 'True', reason: 'DiscoveryFailed' },
    message:
      'Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: wardle.example.com/v1: stale GroupVersion discovery: wardle.example.com/v1',
  };
  await expect
    .poll(async () => (await cluster.request('GET', ending)).json.status?.conditions)
    .toContainEqual(expect.objectContaining(failure));
  extension.answer = (seen, response) =>
    seen.url.includes('/namespaces/ending/')
      ? json(response, { items: [] })
      : answerDiscovery(VERSIONS, seen, response);
  await extension.start();
  await hurry();
  await expect.poll(async () => (await cluster.request('GET', ending)).code, { timeout: 60_000 }).toBe(404);
});

test('both servers ask whether the caller may, and the second knows who that is', async () => {
  const headers = { 'impersonate-user': 'jane', 'impersonate-group': 'devs' };
  const asJane = async (): Promise<number> => (await cluster.request('GET', CRONS, undefined, headers)).code;
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const metadata = { name: 'crons' };
  const rules = [{ apiGroups: ['stable.example.com'], resources: ['crons'], verbs: ['list'] }];
  const roleRef = { kind: 'ClusterRole', name: 'crons', apiGroup: 'rbac.authorization.k8s.io' };
  const subjects = [{ kind: 'Group', name: 'devs', apiGroup: 'rbac.authorization.k8s.io' }];
  for (const one of [behind, cluster]) {
    expect(await asJane()).toBe(403);
    await one.request('POST', `${rbac}/clusterroles`, { metadata, rules });
    await one.request('POST', `${rbac}/clusterrolebindings`, { metadata, roleRef, subjects });
  }
  await expect.poll(asJane).toBe(200);
  await behind.request('DELETE', `${rbac}/clusterroles/crons`);
  await expect.poll(asJane).toBe(403);
});

test('a server behind this one finds out here whom to trust, and asks here who a caller is and what it may', async () => {
  const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
  expect((await cluster.request('GET', path)).json.data).toMatchObject({
    'requestheader-allowed-names': '["front-proxy-client"]',
    'requestheader-client-ca-file': expect.stringContaining('BEGIN CERTIFICATE'),
    'requestheader-username-headers': '["X-Remote-User"]',
  });
  const accounts = '/api/v1/namespaces/wardle/serviceaccounts';
  await cluster.request('POST', accounts, { metadata: { name: 'api' } });
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const bind = (bindings: string, kind: string, name: string): Promise<unknown> =>
    cluster.request('POST', `${rbac}/${bindings}`, {
      metadata: { name: 'wardle' },
      roleRef: { kind, name, apiGroup: 'rbac.authorization.k8s.io' },
      subjects: [{ kind: 'ServiceAccount', namespace: 'wardle', name: 'api' }],
    });
  await bind('clusterrolebindings', 'ClusterRole', 'system:auth-delegator');
  await bind('namespaces/kube-system/rolebindings', 'Role', 'extension-apiserver-authentication-reader');
  const { token } = (await cluster.request('POST', `${accounts}/api/token`, { spec: {} })).json.status;
  await expect.poll(async () => (await cluster.bearer(token, 'GET', path)).code).toBe(200);
  const reviews = '/apis/authentication.k8s.io/v1/tokenreviews';
  const reviewed = await cluster.bearer(token, 'POST', reviews, { spec: { token } });
  expect(reviewed.json.status.user.username).toBe('system:serviceaccount:wardle:api');
  const access = { spec: { user: 'nobody', resourceAttributes: { verb: 'get', resource: 'secrets' } } };
  const answer = await cluster.bearer(
    token,
    'POST',
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    access,
  );
  expect(answer.json.status.allowed).toBe(false);
});
