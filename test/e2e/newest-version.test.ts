import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { parseCbor } from '../../src/codec/cbor/parse-cbor.ts';
import { toCbor } from '../../src/codec/cbor/write-cbor.ts';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { PATIENCE } from '../kit/patience.ts';
import { Authority, type Pair } from '../kit/pki.ts';
import { TokenSigner } from '../kit/token-signer.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** What the server as a whole can do since 1.32, with flags of 1.36. */

let database: TestDatabase;
let cluster: Cluster;
let clients: Authority;
let proxies: Authority;
const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-newest-'));

beforeAll(async () => {
  database = await createTestDatabase();
  clients = await Authority.create('clients');
  proxies = await Authority.create('proxies');
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  mkdirSync(manifests);
  write('manifests/kept.yaml', keptPolicy('kept'));
  cluster = await startCluster(
    database.url,
    [
      '--emulated-version=1.36',
      '--authorization-mode=RBAC',
      '--logging-format=json',
      '-v=1',
      '--enable-logs-handler',
      '--kvstore-count-metric-poll-period=1s',
      '--feature-gates=CBORServingAndStorage=true,ShardedListAndWatch=true,ManifestBasedAdmissionControlConfig=true',
      `--admission-control-config-file=${write('admission.yaml', admissionConfig(manifests))}`,
      '--send-retry-after-while-not-ready-once',
      '--tls-curve-preferences=23',
      `--client-ca-file=${write('clients.pem', clients.pem)}`,
      `--token-auth-file=${write('tokens.csv', 'meg-token,meg,7\npat-token,pat,8\n')}`,
      `--requestheader-client-ca-file=${write('proxies.pem', proxies.pem)}`,
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      '--requestheader-uid-headers=X-Remote-Uid',
    ],
    { admin: await clients.issue({ subject: 'CN=admin, O=system:masters' }) },
  );
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
  rmSync(folder, { recursive: true });
});

const manifests = join(folder, 'manifests');

const admissionConfig = (dir: string): string => `
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: ValidatingAdmissionPolicy
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: ValidatingAdmissionPolicyConfiguration
    staticManifestsDir: ${dir}
`;

/** Keeps everything with the label `kept` from being deleted. */
const keptPolicy = (label: string): string => `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: kept.static.k8s.io}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [DELETE], resources: ["*"]}]
  validations: [{expression: "!('${label}' in oldObject.metadata.?labels.orValue({}))", message: is kept}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: kept.static.k8s.io}
spec: {policyName: kept.static.k8s.io, validationActions: [Deny]}
`;

const WHOAMI = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

interface Sent {
  readonly pair: Pair;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer | string;
}

interface Received {
  readonly code: number;
  readonly type: string;
  readonly bytes: Buffer;
}

/** A request with bytes of any kind. */
function send({ pair, method = 'GET', path = WHOAMI, headers = {}, body }: Sent): Promise<Received> {
  const ca = readFileSync(join(cluster.folder, 'certificates', 'ca.crt'));
  const agent = new Agent({ ca, ...pair });
  const options = { method, agent, host: '127.0.0.1', port: cluster.port, path };
  return new Promise((resolve, reject) => {
    // Node frames the body of a DELETE only where its length is said.
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const sent = httpsRequest({ ...options, headers: { ...headers, ...length } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () => {
        agent.destroy();
        const type = response.headers['content-type'] ?? '';
        resolve({ code: response.statusCode ?? 0, type, bytes: Buffer.concat(chunks) });
      });
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

/** The user that the server sees. */
async function whoAmI(pair: Pair, headers: Record<string, string> = {}): Promise<JsonObject> {
  const type = { 'content-type': 'application/json' };
  const { bytes } = await send({ pair, method: 'POST', headers: { ...type, ...headers }, body: '{}' });
  return JSON.parse(bytes.toString()).status.userInfo;
}

test('a streaming list may be shown as a table, whose last bookmark ends the state', async () => {
  const query = 'watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
  const path = `/api/v1/namespaces?${query}&allowWatchBookmarks=true`;
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const { code, text } = await cluster.request('GET', path, undefined, { accept });
  expect(code).toBe(200);
  const events = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const end = events.find(({ type }) => type === 'BOOKMARK');
  expect(events[0]).toMatchObject({ type: 'ADDED', object: { kind: 'Table' } });
  expect(end.object.rows).toMatchObject([
    { object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } } },
  ]);
});

test('/version tells what is emulated and which version is compatible', async () => {
  expect((await cluster.request('GET', '/version')).json).toMatchObject({
    ...{ major: '1', minor: '36', emulationMajor: '1', emulationMinor: '36' },
    ...{ minCompatibilityMajor: '1', minCompatibilityMinor: '35' },
  });
  expect((await cluster.request('GET', '/metrics')).text).toContain(
    'version_info{component="kube",binary="1.36",emulation="1.36",min_compat="1.35"} 1',
  );
});

test('metrics name the feature gates of the version, and the deprecated APIs that are asked for', async () => {
  const linesOf = async (): Promise<string[]> => (await cluster.request('GET', '/metrics')).text.split('\n');
  const before = await linesOf();
  expect(before).toContain('kubernetes_feature_enabled{name="PodLevelResources",stage="BETA"} 1');
  expect(before).toContain('kubernetes_feature_enabled{name="AllAlpha",stage="ALPHA"} 0');
  expect((await cluster.request('GET', '/api/v1/namespaces/kube-system/endpoints')).code).toBe(200);
  const line = `apiserver_requested_deprecated_apis{group="",version="v1",resource="endpoints",subresource="",removed_release=""} 1`;
  expect(before).not.toContain(line);
  expect(await linesOf()).toContain(line);
});

test('uids come from front proxies and certificates', async () => {
  const proxy = await proxies.issue({ subject: 'CN=proxy' });
  const headers = { 'x-remote-user': 'ann', 'x-remote-uid': 'uid-9' };
  expect(await whoAmI(proxy, headers)).toMatchObject({ username: 'ann', uid: 'uid-9' });
  const own = await clients.issue({ subject: 'CN=bob, 1.3.6.1.4.1.57683.2=uid-1' });
  expect(await whoAmI(own, headers)).toMatchObject({ username: 'bob', uid: 'uid-1' });
  const map = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
  expect((await cluster.request('GET', map)).json).toMatchObject({
    data: { 'requestheader-uid-headers': '["X-Remote-Uid"]' },
  });
});

test('a role allows impersonation for some requests alone, and the unconstrained right goes on', async () => {
  const role = (name: string, rules: readonly JsonObject[]): JsonObject => ({
    metadata: { name },
    rules: [...rules],
  });
  const bind = (name: string, user: string): JsonObject => ({
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }],
  });
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const onBob = { apiGroups: ['authentication.k8s.io'], resources: ['users'], resourceNames: ['bob'] };
  const reading = [
    { ...onBob, verbs: ['impersonate:user-info'] },
    { apiGroups: [''], resources: ['pods'], verbs: ['impersonate-on:user-info:list'] },
  ];
  const all: readonly JsonObject[] = [{ apiGroups: [''], resources: ['users'], verbs: ['impersonate'] }];
  const roles: readonly (readonly [string, readonly JsonObject[], string])[] = [
    ['reading-bob', reading, 'meg'],
    ['as-users', all, 'pat'],
    ['pods', [{ apiGroups: [''], resources: ['pods'], verbs: ['list', 'create'] }], 'bob'],
  ];
  for (const [name, rules, user] of roles) {
    expect((await cluster.request('POST', `${rbac}/clusterroles`, role(name, rules))).code).toBe(201);
    expect((await cluster.request('POST', `${rbac}/clusterrolebindings`, bind(name, user))).code).toBe(201);
  }
  const pods = '/api/v1/namespaces/default/pods';
  const as = (token: string, method: string, user: string) =>
    cluster.bearer(token, method, pods, method === 'POST' ? { metadata: { name: 'p' } } : undefined, {
      'impersonate-user': user,
    });
  // The server learns of roles from the log, as each of its fellows does.
  await vi.waitFor(async () => expect((await as('meg-token', 'GET', 'bob')).code).toBe(200), PATIENCE);
  const create = await as('meg-token', 'POST', 'bob');
  expect(create.code).toBe(403);
  expect((create.json as JsonObject).message).toContain(
    'cannot impersonate-on:user-info:create resource "pods"',
  );
  expect((await as('meg-token', 'GET', 'eve')).code).toBe(403);
  await vi.waitFor(async () => expect((await as('pat-token', 'GET', 'bob')).code).toBe(200), PATIENCE);
  expect((await as('pat-token', 'POST', 'bob')).code).toBe(422);
});

test('flags, state and log files are pages', async () => {
  expect((await cluster.request('GET', '/flagz', undefined, { accept: 'text/plain' })).text).toContain(
    'emulated-version=[1.36]',
  );
  const accept = 'application/json;as=Statusz;g=config.k8s.io;v=v1beta1';
  const { json } = await cluster.request('GET', '/statusz', undefined, { accept });
  expect(json).toMatchObject({ kind: 'Statusz', emulationVersion: '1.36' });
  const pages = ['/flagz', '/healthz', '/livez', '/logs', '/metrics', '/readyz', '/statusz', '/version'];
  expect((json as JsonObject).paths).toEqual(pages);
  expect((await cluster.request('GET', '/logs/')).code).toBe(200);
  expect((await cluster.bearer('meg-token', 'GET', '/flagz')).code).toBe(403);
});

test('lines of the log are JSON, and the key exchange is the one of the flag', async () => {
  const lines = cluster.output.stderr.split('\n').filter((line) => line.startsWith('{'));
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ msg: expect.any(String) });
  const group = (curves: string): Promise<string | undefined> =>
    new Promise((resolve) => {
      const options = { host: '127.0.0.1', port: cluster.port, rejectUnauthorized: false, ecdhCurve: curves };
      const socket = connect(options, () => {
        const { name } = socket.getEphemeralKeyInfo() as { name?: string };
        socket.destroy();
        resolve(name);
      });
      socket.once('error', () => resolve(undefined));
    });
  expect(await group('X25519:P-256')).toBe('prime256v1');
  expect(await group('X25519')).toBeUndefined();
});

test('bodies, answers, watches, applies and errors are CBOR where the feature is on', async () => {
  const pair = await clients.issue({ subject: 'CN=cbor, O=system:masters' });
  const maps = '/api/v1/namespaces/default/configmaps';
  const speak = async (method: string, path: string, body?: JsonObject, type = 'application/cbor') => {
    const headers = { accept: 'application/cbor', ...(body === undefined ? {} : { 'content-type': type }) };
    const sent = body === undefined ? {} : { body: toCbor(body) };
    const answer = await send({ pair, method, path, headers, ...sent });
    const isCbor = answer.type === 'application/cbor';
    return { ...answer, value: isCbor ? (parseCbor(answer.bytes).value as JsonObject) : undefined };
  };
  const made = await speak('POST', maps, { metadata: { name: 'cbor' }, data: { a: 'ü' } });
  expect(made).toMatchObject({ code: 201, value: { kind: 'ConfigMap', data: { a: 'ü' } } });
  const applied = await speak(
    'PATCH',
    `${maps}/cbor?fieldManager=me`,
    { kind: 'ConfigMap', apiVersion: 'v1', data: { b: '2' } },
    'application/apply-patch+cbor',
  );
  expect(applied).toMatchObject({ code: 200, value: { data: { a: 'ü', b: '2' } } });
  const list = await speak('GET', maps);
  expect(list.value).toMatchObject({
    kind: 'ConfigMapList',
    items: expect.arrayContaining([expect.objectContaining({ data: { a: 'ü', b: '2' } })]),
  });
  const secret = { metadata: { name: 'cbor' }, data: { key: 'AQID' } };
  expect(await speak('POST', '/api/v1/namespaces/default/secrets', secret)).toMatchObject({ code: 201 });
  const watched = await send({
    ...{ pair, path: `${maps}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dcbor` },
    headers: { accept: 'application/cbor-seq' },
  });
  expect(watched.type).toBe('application/cbor-seq');
  expect(parseCbor(watched.bytes).value).toMatchObject({ type: 'ADDED', object: { kind: 'ConfigMap' } });
  expect(await speak('GET', `${maps}/none`)).toMatchObject({ code: 404, value: { kind: 'Status' } });
  expect(await speak('GET', '/apis/apps/v1')).toMatchObject({ value: { kind: 'APIResourceList' } });
  for (const path of ['/version', '/', '/api', '/apis', '/apis/apps', '/openapi/v3']) {
    const { code, type } = await send({ pair, path, headers: { accept: 'application/cbor, */*' } });
    expect([path, code, type]).toEqual([path, 200, 'application/json']);
  }
  const twice = Buffer.from('a2616101616102', 'hex');
  const type = { 'content-type': 'application/cbor' };
  const refused = await send({ pair, method: 'POST', path: maps, headers: type, body: twice });
  expect(refused.code).toBe(400);
  expect(refused.bytes.toString()).toContain('found duplicate map key');
  const options = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'another' } };
  expect((await speak('DELETE', `${maps}/cbor`, options)).code).toBe(409);
  expect((await speak('DELETE', `${maps}/cbor`)).code).toBe(200);
});

test('policies of files protect even policies, take effect when a file changes, and nothing shows or removes them', async () => {
  const path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
  const spec = {
    matchConstraints: {
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
    },
    validations: [{ expression: 'true' }],
  };
  const made = (name: string) => ({ metadata: { name, labels: { kept: '' } }, spec });
  expect((await cluster.request('POST', path, made('a'))).code).toBe(201);
  const refused = await cluster.request('DELETE', `${path}/a`);
  expect([refused.code, refused.json.message]).toEqual([
    422,
    expect.stringContaining("ValidatingAdmissionPolicy 'kept.static.k8s.io'"),
  ]);
  expect((await cluster.request('GET', `${path}/kept.static.k8s.io`)).code).toBe(404);
  expect((await cluster.request('POST', path, made('a.static.k8s.io'))).json.message).toContain(
    'are reserved for static manifest-based configurations',
  );
  writeFileSync(join(manifests, 'kept.yaml'), keptPolicy('other'));
  await vi.waitFor(
    async () => expect((await cluster.request('DELETE', `${path}/a`)).code).toBe(200),
    PATIENCE,
  );
});

test('a namespace is emptied of pods before anything that they may need, and says what keeps it', async () => {
  const shop = '/api/v1/namespaces/shop';
  const pod = {
    metadata: { name: 'kept', finalizers: ['example.com/keeps'] },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  };
  expect((await cluster.request('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } })).code).toBe(
    201,
  );
  expect((await cluster.request('POST', `${shop}/pods`, pod)).code).toBe(201);
  expect((await cluster.request('POST', `${shop}/configmaps`, { metadata: { name: 'needed' } })).code).toBe(
    201,
  );
  expect((await cluster.request('DELETE', shop)).code).toBe(200);
  const conditions = async (): Promise<Record<string, string>> => {
    const { json } = await cluster.request('GET', shop);
    const all: { type: string; status: string; message: string }[] = json.status?.conditions ?? [];
    return Object.fromEntries(all.map(({ type, status, message }) => [type, `${status} ${message}`]));
  };
  await vi.waitFor(
    async () =>
      expect(await conditions()).toEqual({
        NamespaceDeletionDiscoveryFailure: 'False All resources successfully discovered',
        NamespaceDeletionGroupVersionParsingFailure: 'False All legacy kube types successfully parsed',
        NamespaceDeletionContentFailure:
          'False All content successfully deleted, may be waiting on finalization',
        NamespaceContentRemaining: 'True Some resources are remaining: pods. has 1 resource instances',
        NamespaceFinalizersRemaining:
          'True Some content in the namespace has finalizers remaining: example.com/keeps in 1 resource instances',
      }),
    PATIENCE,
  );
  expect((await cluster.request('GET', `${shop}/configmaps/needed`)).code).toBe(200);
  const { json: kept } = await cluster.request('GET', `${shop}/pods/kept`);
  kept.metadata.finalizers = [];
  expect((await cluster.request('PUT', `${shop}/pods/kept`, kept)).code).toBe(200);
  await vi.waitFor(async () => expect((await cluster.request('GET', shop)).code).toBe(404), PATIENCE);
});

test('later versions are served where a flag asks for them, and an external signer signs tokens', {
  tags: 'long',
}, async () => {
  const served = 'networking.k8s.io/v1beta1=true,policy/v1/poddisruptionbudgets=false';
  const flags = ['--emulated-version=1.32', `--runtime-config=${served}`];
  await using older = await startCluster(database.url, [
    ...flags,
    '--feature-gates=MultiCIDRServiceAllocator=true',
    '--send-retry-after-while-not-ready-once=false',
  ]);
  for (const absent of ['networking.k8s.io/v1/servicecidrs', 'policy/v1/poddisruptionbudgets'])
    expect((await older.request('GET', `/apis/${absent}`)).code, absent).toBe(404);
  await older.stop();
  await using signer = await TokenSigner.start(join(folder, 'signer.sock'), 'v1alpha1');
  await using forward = await startCluster(database.url, [
    ...['--emulated-version=1.33', '--emulation-forward-compatible'],
    '--feature-gates=ExternalServiceAccountTokenSigner=true',
    `--service-account-signing-endpoint=${join(folder, 'signer.sock')}`,
    '--runtime-config=storage.k8s.io/v1beta1=true',
  ]);
  const cbor = { accept: 'application/cbor' };
  expect((await forward.request('GET', '/api/v1/namespaces', undefined, cbor)).code).toBe(406);
  const { code, json } = await forward.request('GET', '/apis/storage.k8s.io/v1/volumeattributesclasses');
  expect([code, (json as JsonObject).kind]).toEqual([200, 'VolumeAttributesClassList']);
  const made = { metadata: { name: 'gold' }, driverName: 'csi.example.com', parameters: { iops: '9' } };
  expect((await forward.request('POST', '/apis/storage.k8s.io/v1/volumeattributesclasses', made)).code).toBe(
    201,
  );
  const explained = await forward.kubectl(
    'explain volumeattributesclasses.driverName --api-version=storage.k8s.io/v1',
  );
  expect(explained.stdout).toContain('driverName');
  const token = (await forward.kubectl('create token default')).stdout.trim();
  expect(signer.calls).toContain('Sign');
  const review = await forward.bearer(token, 'POST', WHOAMI, {});
  expect(review.json.status.userInfo.username).toBe('system:serviceaccount:default:default');
  const { json: published } = await forward.request('GET', '/openid/v1/jwks');
  expect(published.keys).toMatchObject([{ kid: 'one', alg: 'ES256' }]);
});

test('objects are counted by group too, beside the older name of the metric', async () => {
  await vi.waitFor(async () => {
    const { text } = await cluster.request('GET', '/metrics');
    expect(text).toMatch(/^apiserver_resource_objects\{group="",resource="namespaces"\} [1-9]/m);
    expect(text).toMatch(
      /^apiserver_resource_objects\{group="rbac.authorization.k8s.io",resource="roles"\} [1-9]/m,
    );
    expect(text).toMatch(/^apiserver_storage_objects\{resource="namespaces"\} [1-9]/m);
  }, PATIENCE);
});

test('lists and watches are divided between clients, each of which gets a part', async () => {
  const maps = '/api/v1/namespaces/default/configmaps';
  const labels = { shared: 'true' };
  const range = (start: string, end: string): string =>
    `labelSelector=shared&shardSelector=${encodeURIComponent(`shardRange(object.metadata.uid, '${start}', '${end}')`)}`;
  const parts = [
    range('0x0000000000000000', '0x8000000000000000'),
    range('0x8000000000000000', '0x10000000000000000'),
  ];
  const watches = parts.map((part) => cluster.watch(`${maps}?watch=1&${part}`));
  for (let n = 0; n < 20; n += 1)
    await cluster.request('POST', maps, { metadata: { name: `m${n}`, labels } });
  const namesOf = async (query: string): Promise<string[]> => {
    const items: { metadata: { name: string } }[] = (await cluster.request('GET', `${maps}?${query}`)).json
      .items;
    return items.map(({ metadata }) => metadata.name).sort();
  };
  const all = await namesOf('labelSelector=shared');
  const lists = await Promise.all(parts.map((part) => namesOf(part)));
  expect(lists.every(({ length }) => length > 0)).toBe(true);
  expect(lists.flat().sort()).toEqual(all);
  for (const [at, watch] of watches.entries()) {
    await vi.waitFor(() => {
      expect(watch.events.map(({ object }) => object.metadata.name).sort()).toEqual(lists[at]);
    }, PATIENCE);
    watch.stop();
  }
  const { json } = await cluster.request('GET', `${maps}?limit=1&${parts[0]}`);
  expect(json.metadata.shardInfo).toEqual({
    selector: "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')",
  });
  const next = `limit=100&continue=${encodeURIComponent(json.metadata.continue)}&${parts[0]}`;
  expect([...(await namesOf(next)), json.items[0].metadata.name].sort()).toEqual(lists[0]);
  const refused = await cluster.request('GET', `${maps}?shardSelector=all`);
  expect([refused.code, refused.json.message]).toEqual([
    400,
    expect.stringContaining('invalid shard selector'),
  ]);
  expect((await cluster.request('DELETE', `${maps}?${parts[0]}`)).code).toBe(200);
  expect(await namesOf('labelSelector=shared')).toEqual(lists[1]);
});
