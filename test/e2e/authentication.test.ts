import 'reflect-metadata';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import * as x509 from '@peculiar/x509';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { stringify } from 'yaml';
import { makeRequest } from '../kit/certificate-request.ts';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { acceptedAuthorities } from '../kit/handshake.ts';
import { type Handler, serveHttps, type TestServer } from '../kit/https-server.ts';
import { Authority, type Pair } from '../kit/pki.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** Client certificates, the front proxy, bootstrap tokens, the token webhook: everything but tokens that are JWTs. */

let database: TestDatabase;
let folder: string;
let cluster: Cluster;
let clients: Authority;
let proxies: Authority;
let webhook: TestServer;
let answer: Handler;
let audiences: string[];

const WHOAMI = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

beforeAll(async () => {
  database = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'authentication-'));
  clients = await Authority.create('clients');
  proxies = await Authority.create('proxies');
  webhook = await serveHttps(await clients.issue({ subject: 'CN=hook', serves: true }), (...all) =>
    answer(...all),
  );
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const kubeconfig = stringify({
    'current-context': 'hook',
    contexts: [{ name: 'hook', context: { cluster: 'hook', user: 'us' } }],
    clusters: [
      {
        name: 'hook',
        cluster: {
          server: `${webhook.url}/review`,
          'certificate-authority-data': Buffer.from(clients.pem).toString('base64'),
        },
      },
    ],
    users: [{ name: 'us', user: { token: 'we-are-the-server' } }],
  });
  cluster = await startCluster(
    database.url,
    [
      '--authorization-mode=RBAC',
      `--client-ca-file=${write('clients.pem', clients.pem)}`,
      `--token-auth-file=${write('tokens.csv', 'static-token,tina,7,"a,b"\n')}`,
      '--enable-bootstrap-token-auth',
      `--requestheader-client-ca-file=${write('proxies.pem', proxies.pem)}`,
      '--requestheader-allowed-names=front-proxy',
      '--requestheader-username-headers=X-Remote-User,X-Other-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      `--authentication-token-webhook-config-file=${write('hook.yaml', kubeconfig)}`,
      '--authentication-token-webhook-version=v1',
      '--authentication-token-webhook-cache-ttl=5s',
      '--api-audiences=cluster,https://cluster.example.com',
    ],
    { admin: await clients.issue({ subject: 'CN=admin, O=system:masters' }) },
  );
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await webhook[Symbol.asyncDispose]();
  await database.drop();
  rmSync(folder, { recursive: true });
});

beforeEach(() => {
  answer = (_, response) => response.writeHead(404).end();
});

interface Sent {
  readonly pair?: Pair;
  readonly headers?: Record<string, string | string[]>;
  readonly method?: string;
  readonly path?: string;
}

/** A request with a client certificate or without. */
function send({ pair, headers = {}, method = 'POST', path = WHOAMI }: Sent): Promise<{
  code: number;
  user: { username: string; groups: string[]; extra?: Record<string, string[]> };
  headers: NodeJS.Dict<string | string[]>;
}> {
  const ca = readFileSync(join(cluster.folder, 'certificates', 'ca.crt'));
  const agent = new Agent({ ca, ...(pair === undefined ? {} : pair) });
  return new Promise((resolve, reject) => {
    const options = { method, agent, host: '127.0.0.1', port: cluster.port, path };
    const type = { 'content-type': 'application/json' };
    const request = httpsRequest({ ...options, headers: { ...type, ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () => {
        const text = Buffer.concat(chunks).toString();
        const { status } = text.startsWith('{') ? JSON.parse(text) : { status: {} };
        resolve({ code: response.statusCode ?? 0, user: status?.userInfo, headers: response.headers });
      });
    });
    request.once('error', reject);
    request.end(method === 'POST' ? '{}' : undefined);
  });
}

const bearer = (token: string) => send({ headers: { authorization: `Bearer ${token}` } });

test('a certificate of the authorities names its user and groups; any other is refused', async () => {
  const pair = await clients.issue({ subject: 'CN=carl, O=devs, O=ops' });
  const { user } = await send({ pair });
  expect(user).toMatchObject({ username: 'carl', groups: ['devs', 'ops', 'system:authenticated'] });
  const strangers = await Authority.create('clients');
  const past = new Date(Date.now() - 60_000);
  const bad = {
    'of another authority of the same name': await strangers.issue({ subject: 'CN=carl' }),
    expired: await clients.issue({ subject: 'CN=carl', notAfter: past }),
    'not yet valid': await clients.issue({ subject: 'CN=carl', notBefore: new Date(Date.now() + 60_000) }),
    'for servers': await clients.issue({ subject: 'CN=carl', serves: true }),
    nameless: await clients.issue({ subject: 'O=devs' }),
  };
  for (const [what, wrong] of Object.entries(bad)) {
    expect(`${what}: ${(await send({ pair: wrong })).code}`).toBe(`${what}: 401`);
  }
  // Good credentials beside bad ones are good credentials.
  const both = await send({ pair: bad.expired, headers: { authorization: 'Bearer static-token' } });
  expect(both.user.username).toBe('tina');
});

test('with authorities given, the one that the server made is not believed beside them', async () => {
  const read = (name: string): string => readFileSync(join(cluster.folder, 'certificates', name), 'utf8');
  const own = { cert: read('admin.crt'), key: read('admin.key') };
  expect((await send({ pair: own })).code).toBe(401);
  expect(existsSync(join(cluster.folder, 'admin.kubeconfig'))).toBe(false);
});

test('a name is what the certificate says, not a text that escapes it; of several the last one counts', async () => {
  const subject = [
    { CN: ['first'] },
    { O: ['a+b'], OU: ['x'] },
    { CN: ['bob+ops@example.com'], O: ['devs; all'] },
  ];
  const { user } = await send({ pair: await clients.issue({ subject }) });
  expect(user.username).toBe('bob+ops@example.com');
  expect(user.groups.sort()).toEqual(['a+b', 'devs; all', 'system:authenticated']);
});

const RESUMES = 30;

/** The status line of a request in a session that was begun on another connection. */
async function resumeAs({ cert, key }: Pair): Promise<string> {
  const options = { host: '127.0.0.1', port: cluster.port, cert, key, rejectUnauthorized: false };
  const ask = (session?: Buffer): Promise<{ line: string; reused: boolean; session: Buffer | undefined }> =>
    new Promise((resolve, reject) => {
      let [text, next, reused] = ['', session, false];
      const socket = connectTls({ ...options, ...(session === undefined ? {} : { session }) });
      socket.on('session', (ticket) => {
        next = ticket;
      });
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      socket.once('secureConnect', () => {
        reused = socket.isSessionReused();
      });
      socket.once('error', reject);
      socket.once('close', () => resolve({ line: text.split('\r\n')[0] ?? '', reused, session: next }));
      socket.write('GET /version HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    });
  // Each serving thread has tickets of its own, and a connection gets any thread.
  let answer = await ask();
  for (let tries = 0; !answer.reused && tries < RESUMES; tries += 1) answer = await ask(answer.session);
  expect(answer.reused).toBe(true);
  return answer.line;
}

test('an intermediate authority is accepted for the clients that it may issue for alone, by the front proxy too', async () => {
  const { clientAuth, serverAuth } = x509.ExtendedKeyUsage;
  const isAuthority = (length?: number) => new x509.BasicConstraintsExtension(true, length, true);
  const chained = async (root: Authority, subject: string, ...extensions: x509.Extension[]) => {
    const between = await Authority.create('between', { parent: root, extensions });
    const { cert, key } = await between.issue({ subject });
    return { cert: cert + between.pem, key };
  };
  const forClients = await chained(
    clients,
    'CN=carl',
    isAuthority(0),
    new x509.ExtendedKeyUsageExtension([clientAuth]),
  );
  expect((await send({ pair: forClients })).user.username).toBe('carl');
  expect(await resumeAs(forClients)).toBe('HTTP/1.1 200 OK');
  const forServers = new x509.ExtendedKeyUsageExtension([serverAuth]);
  const bad = {
    'for servers': await chained(clients, 'CN=carl', isAuthority(), forServers),
    'no authority': await chained(clients, 'CN=carl', new x509.BasicConstraintsExtension(false)),
    'not understood': await chained(
      clients,
      'CN=carl',
      isAuthority(),
      new x509.Extension('1.2.3.4', true, Buffer.from([5, 0])),
    ),
  };
  for (const [what, pair] of Object.entries(bad))
    expect(`${what}: ${(await send({ pair })).code}`).toBe(`${what}: 401`);
  const headers = { 'x-remote-user': 'dora' };
  const proxy = await chained(proxies, 'CN=front-proxy', isAuthority());
  expect((await send({ pair: proxy, headers })).user.username).toBe('dora');
  const noProxy = await chained(proxies, 'CN=front-proxy', isAuthority(), forServers);
  expect((await send({ pair: noProxy, headers })).code).toBe(401);
});

test('a certificate of system:masters cannot be requested, in any block of the text and before any other', async () => {
  const harmless = Buffer.from(await makeRequest('harmless'), 'base64').toString();
  const masters = Buffer.from(await makeRequest('eve, O=system:masters'), 'base64').toString();
  const ask = async (name: string, pem: string) => {
    const spec = {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
    };
    const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    return cluster.request('POST', path, { metadata: { name }, spec });
  };
  const refused =
    'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed';
  const other = harmless.replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE');
  expect((await ask('alone', masters)).json.message).toContain(refused);
  expect((await ask('before', masters + harmless)).json.message).toContain(refused);
  expect((await ask('between', `${masters}${harmless}${masters}`)).json.message).toContain(refused);
  // Some readers pass over a block with a space in it, and take the next one for the first.
  expect((await ask('spaced', masters.replace(/\nM/, '\n M') + harmless)).json.message).toContain(refused);
  // A block that is none is passed over by everybody.
  expect((await ask('broken', harmless.replace(/\nM/, '\n-') + masters)).json.message).toContain(refused);
  expect((await ask('other', other + masters)).json.message).toContain('PEM block type must be');
  // What follows the request is not part of it, for signers neither.
  expect((await ask('after', harmless + masters)).code).toBe(201);
});

test('authorities are believed, and no longer believed, within seconds of a change of their file', async () => {
  const more = await Authority.create('more');
  const pair = await more.issue({ subject: 'CN=nora' });
  expect((await send({ pair })).code).toBe(401);
  const path = join(folder, 'clients.pem');
  expect(await acceptedAuthorities(cluster.port)).toEqual(['clients', 'proxies']);
  writeFileSync(path, clients.pem + more.pem);
  const codes = async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => send({ pair })));
    return [...new Set(answers.map(({ code }) => code))];
  };
  await expect.poll(codes).toEqual([201]);
  const named = ['clients', 'more', 'proxies'];
  for (const name of [undefined, 'localhost'])
    await expect.poll(() => acceptedAuthorities(cluster.port, name)).toEqual(named);
  writeFileSync(path, 'nonsense');
  await expect.poll(() => cluster.output.stderr).toMatch(/E.*clients\.pem/);
  expect(await codes()).toEqual([201]);
  writeFileSync(path, clients.pem);
  await expect.poll(codes).toEqual([401]);
});

test('a front proxy names the caller; no other client can', async () => {
  const proxy = await proxies.issue({ subject: 'CN=front-proxy' });
  const headers = {
    'x-remote-user': 'rita',
    'x-remote-group': ['devs', 'ops,eu'],
    'x-remote-extra-acme.com%2fteam': 'blue',
  };
  const { user } = await send({ pair: proxy, headers });
  expect(user).toEqual({
    username: 'rita',
    groups: ['devs', 'ops,eu', 'system:authenticated'],
    extra: { 'acme.com/team': ['blue'] },
  });
  const second = await send({ pair: proxy, headers: { 'x-other-user': 'otto' } });
  expect(second.user.username).toBe('otto');
  const spoofed = { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' };
  const carl = await clients.issue({ subject: 'CN=carl' });
  expect((await send({ pair: carl, headers: spoofed })).user.username).toBe('carl');
  const tina = await send({ headers: { ...spoofed, authorization: 'Bearer static-token' } });
  expect(tina.user).toMatchObject({ username: 'tina', groups: ['a', 'b', 'system:authenticated'] });
  expect((await send({ headers: spoofed, path: '/api/v1/nodes', method: 'GET' })).code).toBe(403);
  const wrongName = await proxies.issue({ subject: 'CN=other-proxy' });
  expect((await send({ pair: wrongName, headers: spoofed })).code).toBe(401);
  const wrongAuthority = await clients.issue({ subject: 'CN=front-proxy' });
  expect((await send({ pair: wrongAuthority, headers: spoofed })).user.username).toBe('front-proxy');
});

const CORE = '/api/v1/namespaces';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

async function makeBootstrapToken(
  id: string,
  namespace: string,
  data: Record<string, string> = {},
): Promise<void> {
  const all = {
    'token-id': id,
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-authentication': 'true',
    ...data,
  };
  await cluster.request('POST', `${CORE}/${namespace}/secrets`, {
    metadata: { name: `bootstrap-token-${id}` },
    type: 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(Object.entries(all).map(([key, value]) => [key, base64(value)])),
  });
}

test('bootstrap tokens are in secrets of kube-system and nowhere else, and end with them', async () => {
  await makeBootstrapToken('aaaaaa', 'kube-system', { 'auth-extra-groups': 'system:bootstrappers:workers' });
  await makeBootstrapToken('bbbbbb', 'cluster-system');
  await makeBootstrapToken('cccccc', 'kube-system', { expiration: '2020-01-01T00:00:00Z' });
  await makeBootstrapToken('dddddd', 'kube-system', { 'usage-bootstrap-authentication': 'false' });
  await makeBootstrapToken('eeeeee', 'kube-system', { 'auth-extra-groups': 'system:masters' });
  await makeBootstrapToken('ffffff', 'default');
  await makeBootstrapToken('abcdef', 'kube-system', { expiration: 'some day' });
  // Tokens are looked for in what the server has in memory, as in Kubernetes.
  const last = `${CORE}/kube-system/secrets/bootstrap-token-abcdef?resourceVersion=0`;
  await expect.poll(async () => (await cluster.request('GET', last)).code).toBe(200);
  const { user } = await bearer('aaaaaa.0123456789abcdef');
  expect(user).toMatchObject({
    username: 'system:bootstrap:aaaaaa',
    groups: ['system:bootstrappers', 'system:bootstrappers:workers', 'system:authenticated'],
  });
  for (const id of ['bbbbbb', 'cccccc', 'dddddd', 'eeeeee', 'ffffff', 'abcdef', 'nnnnnn']) {
    expect(`${id} ${(await bearer(`${id}.0123456789abcdef`)).code}`).toBe(`${id} 401`);
  }
  expect((await bearer('aaaaaa.0123456789abcdee')).code).toBe(401);
  await cluster.request('DELETE', `${CORE}/kube-system/secrets/bootstrap-token-aaaaaa`);
  await expect.poll(async () => (await bearer('aaaaaa.0123456789abcdef')).code).toBe(401);
});

const review = (status: object): Handler => {
  return (request, response, body) => {
    const { kind, apiVersion, spec } = JSON.parse(body);
    audiences = spec.audiences;
    if (request.headers.authorization !== 'Bearer we-are-the-server') {
      response.writeHead(401).end();
      return;
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ kind, apiVersion, spec, status }));
  };
};

test('the webhook is asked about tokens that no other authenticator knows, and its answers hold for their time', {
  tags: 'long',
}, async () => {
  const wendy = { username: 'wendy', uid: '9', groups: ['web'], extra: { scope: ['x'] } };
  answer = review({ authenticated: true, user: wendy });
  const before = webhook.count;
  const answers = await Promise.all(Array.from({ length: 20 }, () => bearer('web-token')));
  for (const { user } of answers) expect(user).toMatchObject({ username: 'wendy', extra: { scope: ['x'] } });
  expect(webhook.count - before).toBe(1);
  expect(audiences).toEqual(['cluster', 'https://cluster.example.com']);
  answer = review({ authenticated: false });
  expect((await bearer('web-token')).code).toBe(201);
  await expect.poll(async () => (await bearer('web-token')).code).toBe(401);
  expect((await bearer('static-token')).user.username).toBe('tina');
});

test('a review passes on the audiences, and believes the webhook about its own only', async () => {
  const ask = async (token: string, wanted?: string[]) => {
    const body = { spec: { token, ...(wanted === undefined ? {} : { audiences: wanted }) } };
    const { json } = await cluster.request('POST', '/apis/authentication.k8s.io/v1/tokenreviews', body);
    return json.status;
  };
  const user = { username: 'wendy' };
  answer = review({ authenticated: true, user, audiences: ['vault', 'bank'] });
  expect(await ask('t1', ['vault'])).toMatchObject({ authenticated: true, audiences: ['vault'] });
  expect(audiences).toEqual(['vault']);
  expect(await ask('t1')).toEqual({ user: {}, error: 'invalid bearer token' });
  answer = review({ authenticated: true, user });
  expect(await ask('t2')).toMatchObject({ audiences: ['cluster', 'https://cluster.example.com'] });
  expect((await ask('t2', ['vault'])).authenticated).toBe(undefined);
  answer = review({ authenticated: false, error: 'go away' });
  expect((await ask('t3')).error).toBe('go away');
  expect(await ask('static-token', ['cluster'])).toMatchObject({
    authenticated: true,
    audiences: ['cluster'],
    user: { username: 'tina' },
  });
  expect((await ask('static-token', ['vault'])).authenticated).toBe(undefined);
});

test('a webhook that lies, fails or drips authenticates no token, and other callers go on', {
  tags: 'long',
}, async () => {
  const nobody = (body: unknown): Handler => {
    return (_, response) => response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  const kind = 'TokenReview';
  const v1 = 'authentication.k8s.io/v1';
  const status = { authenticated: true, user: { username: 'mallory', groups: ['system:masters'] } };
  const lies: Record<string, Handler> = {
    'an error': (_, response) => response.writeHead(403).end('{}'),
    'no JSON': nobody('hello'),
    'no review': nobody([]),
    'another kind': nobody({ kind: 'Pod', apiVersion: v1, status }),
    'another version': nobody({ kind, apiVersion: 'authentication.k8s.io/v1beta1', status }),
    'no status': nobody({ kind, apiVersion: v1 }),
    'a user without a name': nobody({ kind, apiVersion: v1, status: { authenticated: true, user: {} } }),
    'a text for true': nobody({ kind, apiVersion: v1, status: { ...status, authenticated: 'true' } }),
    'a flood': (_, response) =>
      response.end(JSON.stringify({ kind, apiVersion: v1, status, x: 'x'.repeat(4 << 20) })),
    'a redirect': (_, response) => response.writeHead(302, { location: 'https://example.com' }).end(),
    'an end in the middle': (_, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"kind":');
      setTimeout(() => response.destroy(), 10);
    },
  };
  for (const [what, lie] of Object.entries(lies)) {
    answer = lie;
    expect(`${what}: ${(await bearer(`lie-${what.replaceAll(' ', '-')}`)).code}`).toBe(`${what}: 401`);
  }
  const drips = new AbortController();
  answer = (_, response) => {
    const drip = setInterval(() => response.write(' '), 50);
    response.once('close', () => clearInterval(drip));
    drips.signal.addEventListener('abort', () => response.destroy());
  };
  let dripping = true;
  const dripped = bearer('drip')
    .catch(() => undefined)
    .finally(() => {
      dripping = false;
    });
  expect((await bearer('static-token')).user.username).toBe('tina');
  expect(dripping).toBe(true);
  drips.abort();
  await dripped;
});

test('a browser may send its token as a protocol of a websocket', async () => {
  await cluster.request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'tina-views' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'tina' }],
  });
  const authorization = 'Bearer static-token';
  // A binding counts once the authorizer has heard of it.
  await expect
    .poll(() => send({ method: 'GET', path: `${CORE}/kube-system/configmaps`, headers: { authorization } }))
    .toMatchObject({ code: 200 });
  const encode = (token: string): string =>
    `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`;
  const ca = readFileSync(join(cluster.folder, 'certificates', 'ca.crt'));
  const url = `wss://127.0.0.1:${cluster.port}${CORE}/kube-system/configmaps?watch=1`;
  const connect = (...protocols: string[]): Promise<string> =>
    new Promise((resolve) => {
      const socket = new WebSocket(url, protocols, { ca });
      socket.once('message', (data) => {
        resolve(`${socket.protocol} ${JSON.parse(String(data)).type}`);
        socket.close();
      });
      socket.once('error', (error) => resolve(error.message));
    });
  expect(await connect(encode('static-token'), 'x.k8s.io')).toBe('x.k8s.io ADDED');
  expect(await connect(encode('wrong-token'), 'x.k8s.io')).toContain('401');
  expect(await connect(encode('static-token'))).toContain('401');
  // Without an upgrade the header means nothing, and its sender is anonymous.
  const plain = { 'sec-websocket-protocol': `${encode('static-token')}, x` };
  expect((await send({ method: 'GET', path: `${CORE}/default/pods`, headers: plain })).code).toBe(403);
});

test('schemes other than bearer mean nothing, and nothing is not wrong', async () => {
  for (const authorization of ['Basic dTpw', 'Bearer', 'Bearer ', 'bearer']) {
    const { code } = await send({ method: 'GET', path: '/version', headers: { authorization } });
    expect(`${authorization} ${code}`).toBe(`${authorization} 200`);
  }
  expect(
    (await send({ method: 'GET', path: '/version', headers: { authorization: 'bEaReR wrong' } })).code,
  ).toBe(401);
});

test('servers behind this one learn whose certificates and headers to believe', async () => {
  const path = `${CORE}/kube-system/configmaps/extension-apiserver-authentication`;
  const { json } = await cluster.request('GET', path);
  expect(json.data['client-ca-file']).toContain(clients.pem.trim());
  expect(json.data['requestheader-client-ca-file']).toBe(proxies.pem);
  expect(json.data['requestheader-allowed-names']).toBe('["front-proxy"]');
  expect(json.data['requestheader-username-headers']).toBe('["X-Remote-User","X-Other-User"]');
});
