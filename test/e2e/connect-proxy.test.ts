// @module-tag long
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect } from 'node:http2';
import { get } from 'node:https';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { pipeline, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { createStage, eventually, type Stage } from '../kit/agent/stage.ts';
import { startBrowser } from '../kit/browser.ts';
import { connectionOptions } from '../kit/connection.ts';
import { spawnKubectl } from '../kit/running-tool.ts';

/** What runs in the cluster, reached through paths of the server. Nothing on a loopback address may be, so this needs another. */

const HOST = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === 'IPv4' && !one.internal)?.address;

let stage: Stage;
let backend: Server;
let port: number;
let seen: { method: string; url: string; headers: IncomingHttpHeaders; body: string };

beforeAll(async () => {
  stage = await createStage(HOST ?? '127.0.0.1');
  backend = createBackend();
  await new Promise<void>((resolve) => backend.listen(0, HOST, resolve));
  ({ port } = backend.address() as AddressInfo);
  await stage.addPod('web', { ip: HOST ?? '', ports: [port] });
  await addService();
});

beforeEach((context) => {
  if (HOST === undefined) context.skip('this machine has no address but its own');
});

afterAll(async () => {
  backend.closeAllConnections();
  backend.close();
  await stage[Symbol.asyncDispose]();
});

function createBackend(): Server {
  const websockets = new WebSocketServer({ noServer: true });
  const server = createServer(async (incoming, outgoing) => {
    seen = {
      method: incoming.method ?? '',
      url: incoming.url ?? '',
      headers: incoming.headers,
      body: await bodyOf(incoming),
    };
    const path = seen.url.split('?')[0];
    if (path === '/moved')
      return void outgoing.writeHead(302, { location: `http://${HOST}:${port}/there?x=1` }).end();
    if (path === '/page.html')
      return void outgoing.writeHead(200, { 'content-type': 'text/html' }).end(PROBING_PAGE);
    if (path === '/away') return void outgoing.writeHead(302, { location: 'http://example.com/a' }).end();
    if (path === '/large') return void outgoing.end(Buffer.alloc(20_000_000, 'a'));
    if (path === '/endless') return writeForever(outgoing);
    if (path === '/broken') {
      outgoing.writeHead(200, { 'content-length': '1000' });
      outgoing.write('half');
      return void setTimeout(() => outgoing.destroy(), 50);
    }
    outgoing.writeHead(201, {
      'x-own': 'yes',
      'access-control-allow-origin': '*',
      'set-cookie': ['a=1', 'b=2; Path=/; Domain=example.com'],
      'service-worker-allowed': '/',
      'clear-site-data': '"*"',
    });
    outgoing.end('<a href="/link">');
  });
  server.on('upgrade', (incoming, socket, head) => {
    seen = { method: 'GET', url: incoming.url ?? '', headers: incoming.headers, body: '' };
    websockets.handleUpgrade(incoming, socket, head, (client) => {
      client.on('message', (message) => client.send(`heard ${message}`));
    });
  });
  return server;
}

let written = 0;

function writeForever(outgoing: ServerResponse): void {
  const source = new Readable({
    read() {
      written += 64 * 1024;
      this.push(Buffer.alloc(64 * 1024));
    },
  });
  pipeline(source, outgoing, () => {});
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of incoming) body += chunk;
  return body;
}

async function addService(): Promise<void> {
  const root = '/api/v1/namespaces/default';
  const metadata = { name: 'shop' };
  const service = { metadata, spec: { ports: [{ name: 'web', port: 80 }] } };
  expect((await stage.cluster.request('POST', `${root}/services`, service)).code).toBe(201);
  const foreign = { ip: '192.0.2.200', targetRef: { kind: 'Pod', name: 'web', namespace: 'default' } };
  const own = { ip: HOST, targetRef: { kind: 'Pod', name: 'web', namespace: 'default' } };
  const subsets = [{ addresses: [foreign, own], ports: [{ name: 'web', port }] }];
  const answer = await stage.cluster.request('POST', `${root}/endpoints`, { metadata, subsets });
  expect(answer.code, answer.text).toBe(201);
}

const services = '/api/v1/namespaces/default/services';
const ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  stage.cluster.request(method, path, body, headers);

test('a service is reached by the name and by the number of its port, with every method', async () => {
  for (const name of ['shop:web', 'http:shop:web', 'shop:80']) {
    const answer = await ask('PUT', `${services}/${name}/proxy/a/b%20c/?q=%2F&r`, 'text', {
      'content-type': 'text/x',
    });
    expect(answer).toMatchObject({ code: 201, text: '<a href="/link">', headers: { 'x-own': 'yes' } });
    expect(seen).toMatchObject({ method: 'PUT', url: '/a/b%20c/?q=%2F&r', body: 'text' });
  }
  expect((await ask('OPTIONS', `${services}/shop:80/proxy/`)).code).toBe(201);
  await ask('GET', `${services}/shop:80/proxy/a/%2e%2e/../../b//c/`);
  expect(seen.url).toBe('/b/c/');
});

test('a page of a pod has an origin of its own: no cookies, storage, workers, nor the right to write', async () => {
  const browser = await startBrowser();
  const proxy = spawnKubectl(stage.cluster, ['proxy', '--port=0']);
  try {
    await proxy.says('Starting to serve on');
    const origin = `http://127.0.0.1:${/127\.0\.0\.1:(\d+)/.exec(proxy.output)?.[1]}`;
    const page = await browser.newPage();
    await page.context().addCookies([{ name: 'session', value: 'x', url: origin }]);
    await page.goto(`${origin}${services}/shop:80/proxy/page.html`);
    await page.waitForFunction("document.title !== ''");
    expect(JSON.parse(await page.title())).toEqual({
      origin: 'null',
      cookie: 'SecurityError',
      storage: 'SecurityError',
      worker: 'refused',
      write: 'TypeError',
    });
    const planted = await stage.cluster.request('GET', '/api/v1/namespaces/default/configmaps/planted');
    expect(planted.code).toBe(404);
    const script = await ask('GET', `${services}/shop:80/proxy/w.js`, undefined, {
      'service-worker': 'script',
    });
    expect(script).toMatchObject({ code: 403, text: expect.stringContaining('workers') });
  } finally {
    proxy.process.kill();
    await proxy.ended;
    await browser.close();
  }
});

/** Tries what a page of the console's origin could do, and has the outcome as its title. */
const PROBING_PAGE = `<script>
  const named = async (attempt) => {
    try { return await attempt(); } catch (error) { return error.name; }
  };
  (async () => {
    const write = () => fetch('/api/v1/namespaces/default/configmaps', {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"metadata":{"name":"planted"}}',
    });
    const worker = () => navigator.serviceWorker.register('w.js').then(() => 'registered', () => 'refused');
    document.title = JSON.stringify({
      origin: self.origin,
      cookie: await named(() => document.cookie),
      storage: await named(() => localStorage.length),
      worker: await named(worker).then((how) => (how === 'registered' ? how : 'refused')),
      write: await named(() => write().then(({ status }) => status)),
    });
  })();
</script>`;

test('a backend learns who asks and under which path, and not with which credentials', async () => {
  const answer = await ask('GET', `${services}/shop:80/proxy/page`, undefined, {
    authorization: 'Bearer secret',
    'x-remote-user': 'somebody',
    'x-forwarded-for': '198.51.100.7',
    'x-plain': 'kept',
  });
  const path = `${services}/shop:80/proxy/`;
  expect(answer.headers['set-cookie']).toEqual([`a=1; Path=${path}`, `b=2; Path=${path}`]);
  expect(answer.headers['service-worker-allowed']).toBeUndefined();
  expect(answer.headers['clear-site-data']).toBeUndefined();
  expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  expect(seen.headers).toMatchObject({
    'x-forwarded-for': '198.51.100.7, 127.0.0.1',
    'x-forwarded-uri': `${services}/shop:80/proxy/page`,
    'x-plain': 'kept',
  });
  expect(seen.headers.authorization).toBeUndefined();
  expect(seen.headers['x-remote-user']).toBeUndefined();
});

test('the first page stands in a folder, and redirects stay within the proxy', async () => {
  const first = await ask('GET', `${services}/shop:80/proxy?a=b`);
  expect(first).toMatchObject({ code: 301, headers: { location: `${services}/shop:80/proxy/?a=b` } });
  const moved = await ask('GET', `${services}/shop:80/proxy/moved`);
  expect(moved).toMatchObject({ code: 302, headers: { location: `${services}/shop:80/proxy/there?x=1` } });
  const away = await ask('GET', `${services}/shop:80/proxy/away`);
  expect(away.headers.location).toBe('http://example.com/a');
});

test('kubectl proxy brings a service to the browser of its user', async () => {
  const proxy = stage.spawnKubectl(['proxy', '--port=0']);
  await proxy.says(/127\.0\.0\.1:\d+/);
  const origin = `http://127.0.0.1:${/127\.0\.0\.1:(\d+)/.exec(proxy.output)?.[1]}`;
  const page = await fetch(`${origin}${services}/shop:80/proxy/page?x=1`);
  expect([page.status, await page.text()]).toEqual([201, '<a href="/link">']);
  expect(seen.url).toBe('/page?x=1');
  const moved = await fetch(`${origin}${services}/shop:80/proxy/moved`, { redirect: 'manual' });
  expect(moved.headers.get('location')).toBe(`${services}/shop:80/proxy/there?x=1`);
});

test('a service without the port, without endpoints or with a name of no form is refused', async () => {
  const words = async (name: string): Promise<string> => {
    const { code, json } = await ask('GET', `${services}/${name}/proxy/`);
    return `${code} ${json.message}`;
  };
  expect(await words('shop:81')).toBe('503 no service port 81 found for service "shop"');
  expect(await words('shop:other')).toBe('503 no endpoints available for service "shop:other"');
  expect(await words('ftp:shop:80')).toBe('400 invalid service request "ftp:shop:80"');
  expect(await words('none:web')).toBe('404 services "none" not found');
});

test('a pod is reached at its first port or at any, but never at an address of this machine alone', async () => {
  const pods = '/api/v1/namespaces/default/pods';
  expect((await ask('POST', `${pods}/web/proxy/x`, 'body')).code).toBe(201);
  expect(seen).toMatchObject({ method: 'POST', url: '/x', body: 'body' });
  expect((await ask('GET', `${pods}/http:web:${port}/proxy/`)).code).toBe(201);
  const dead = await ask('GET', `${pods}/web:1/proxy/`);
  expect(dead).toMatchObject({ code: 503, json: { reason: 'ServiceUnavailable' } });
  expect(dead.json.message).toBe(
    `error trying to reach service: dial tcp ${HOST}:1: connect: connection refused`,
  );
  await stage.addPod('sly', { ip: '127.0.0.1', ports: [port] });
  const sly = await ask('GET', `${pods}/sly/proxy/`);
  expect(sly).toMatchObject({ code: 400, json: { message: 'address not allowed' } });
});

test('a node answers through its agent, which knows the server by its certificate', async () => {
  const metrics = await stage.cluster.kubectl('get --raw /api/v1/nodes/node-1/proxy/metrics');
  expect(metrics).toMatchObject({ code: 0, stdout: 'agent_up 1\n' });
  const other = await ask('GET', `/api/v1/nodes/http:node-1:${port}/proxy/other`);
  expect(other).toMatchObject({
    code: 201,
    headers: { 'content-security-policy': expect.stringContaining('sandbox') },
  });
  expect(seen.url).toBe('/other');
  await stage.addNode('sly', { host: '127.0.0.1', port: stage.agent.port });
  expect((await ask('GET', '/api/v1/nodes/sly/proxy/metrics')).json.message).toBe('address not allowed');
});

test('large bodies pass both ways, no faster than they are read', async () => {
  const large = await ask('GET', `${services}/shop:80/proxy/large`);
  expect(large.text.length).toBe(20_000_000);
  await ask('POST', `${services}/shop:80/proxy/x`, 'b'.repeat(8_000_000));
  expect(seen.body.length).toBe(8_000_000);
});

test('a backend that writes for ever waits for a client that does not read, and stops when it leaves', async () => {
  const path = `${services}/shop:80/proxy/endless`;
  const { port: serverPort } = stage.cluster;
  const request = get({ ...connectionOptions(stage.cluster), host: '127.0.0.1', port: serverPort, path });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.pause();
  response.on('error', () => {});
  let before = -1;
  await expect
    .poll(
      () => {
        const settled = written === before;
        before = written;
        return settled;
      },
      { interval: 300 },
    )
    .toBe(true);
  // What the sockets of both connections hold, on a machine that lets them grow.
  expect(written).toBeLessThan(40_000_000);
  request.destroy();
  await expect.poll(() => backendConnections()).toBe(0);
});

function backendConnections(): Promise<number> {
  return new Promise((resolve) => backend.getConnections((_, count) => resolve(count)));
}

test('requests over HTTP/2 reach backends over HTTP/1.1, with their bodies', async () => {
  const session = connect(`https://127.0.0.1:${stage.cluster.port}`, connectionOptions(stage.cluster));
  const stream = session.request({
    ':method': 'POST',
    ':path': `${services}/shop:80/proxy/two`,
  });
  stream.end('over two');
  const [headers] = await once(stream, 'response');
  expect(headers[':status']).toBe(201);
  expect(headers['x-own']).toBe('yes');
  expect(await text(stream)).toBe('<a href="/link">');
  expect(seen).toMatchObject({ method: 'POST', url: '/two', body: 'over two' });
  expect(seen.headers.host).toBe(`127.0.0.1:${stage.cluster.port}`);
  session.close();
  const head = await ask('HEAD', `${services}/shop:80/proxy/x`);
  expect(head).toMatchObject({ code: 201, text: '', headers: { 'x-own': 'yes' } });
});

test('an answer that breaks off in the middle breaks off for the client too', async () => {
  await expect(ask('GET', `${services}/shop:80/proxy/broken`)).rejects.toThrow(/aborted|ECONNRESET/);
  expect((await ask('GET', `${services}/shop:80/proxy/`)).code).toBe(201);
});

test('a websocket passes through a proxy', async () => {
  const options = connectionOptions(stage.cluster);
  const url = `wss://127.0.0.1:${stage.cluster.port}${services}/shop:80/proxy/chat?room=1`;
  const client = new WebSocket(url, ['base64url.bearer.authorization.k8s.io.c2VjcmV0', 'chat'], options);
  await new Promise((resolve, reject) => client.once('open', resolve).once('error', reject));
  client.send('hello');
  const heard = await new Promise<string>((resolve) => client.once('message', (m) => resolve(String(m))));
  expect(heard).toBe('heard hello');
  expect(seen.url).toBe('/chat?room=1');
  expect(seen.headers['sec-websocket-protocol']).toBe('chat');
  client.close();
  await new Promise((resolve) => client.once('close', resolve));
  await eventually(() => client.readyState === WebSocket.CLOSED);
});
