import { afterEach, beforeEach, expect, test } from 'vitest';
import { readClientConfig } from '../../src/outbound/client-config.ts';
import { WebhookClient } from '../../src/outbound/webhook-client.ts';
import { accept, type RemoteWebhook, startWebhook } from '../kit/webhook-server.ts';

type PostOptions = Parameters<WebhookClient['post']>[1];

let webhook: RemoteWebhook;
let client: WebhookClient;

beforeEach(async () => {
  webhook = await startWebhook();
});

afterEach(async () => {
  client.close();
  await webhook[Symbol.asyncDispose]();
});

const OPTIONS: PostOptions = { timeoutMs: 2000, signal: new AbortController().signal, maxAnswerBytes: 1000 };

function connect(cluster = {}, user = {}): void {
  const path = webhook.kubeconfig(cluster, user);
  client = new WebhookClient(() => readClientConfig(path));
}

const post = (options: Partial<PostOptions> = {}) =>
  client.post(Buffer.from('{"a":1}'), { ...OPTIONS, ...options });

test('a post brings the answer and its code, with the credentials of the file, on one connection', async () => {
  connect({}, { token: 'secret' });
  webhook.respond = (_request, response) => void response.writeHead(418).end('tea');
  expect(await post()).toEqual({ code: 418, body: Buffer.from('tea'), contentType: '' });
  await post();
  expect(webhook.received).toEqual([{ a: 1 }, { a: 1 }]);
  const [first, second] = webhook.requests;
  expect(first?.headers).toMatchObject({
    authorization: 'Bearer secret',
    'content-type': 'application/json',
  });
  expect(first?.url).toBe('/events');
  expect(first?.socket).toBe(second?.socket);
});

test('a redirect that repeats the post is followed with its body, nine times; any other is an answer', async () => {
  connect({}, { token: 'secret' });
  const redirectWith =
    (code: number, times: number): typeof accept =>
    (_request, response) => {
      const isLast = webhook.requests.length > times;
      response.writeHead(isLast ? 200 : code, isLast ? {} : { location: '/moved?x=1' }).end('done');
    };
  for (const code of [307, 308]) {
    webhook.requests.length = 0;
    webhook.received.length = 0;
    webhook.respond = redirectWith(code, 9);
    expect(await post({ query: 'timeout=2s' })).toMatchObject({ code: 200, body: Buffer.from('done') });
    expect(webhook.received).toEqual(Array.from({ length: 10 }, () => ({ a: 1 })));
    expect(webhook.requests.map(({ url }) => url).slice(0, 2)).toEqual(['/events?timeout=2s', '/moved?x=1']);
    expect(webhook.requests.at(-1)).toMatchObject({
      method: 'POST',
      headers: { authorization: 'Bearer secret' },
    });
    webhook.respond = redirectWith(code, 100);
    await expect(post()).rejects.toThrow('stopped after 10 redirects');
  }
  webhook.respond = redirectWith(302, 100);
  expect((await post()).code).toBe(302);
});

test('a redirect to another server takes no credentials along', async () => {
  connect({ 'certificate-authority-data': undefined, 'insecure-skip-tls-verify': true }, { token: 'secret' });
  await using other = await startWebhook();
  webhook.respond = (_request, response) => void response.writeHead(307, { location: other.url }).end();
  expect((await post()).code).toBe(200);
  expect(other.received).toEqual([{ a: 1 }]);
  expect(other.requests[0]?.headers).not.toHaveProperty('authorization');
});

test('a server whose certificate another authority signed gets nothing', async () => {
  connect({ 'certificate-authority-data': undefined });
  await expect(post()).rejects.toThrow(/certificate/);
  client.close();
  connect({ 'tls-server-name': 'not-in-the-certificate' });
  await expect(post()).rejects.toThrow(/altnames/i);
  expect(webhook.requests).toHaveLength(0);
  client.close();
  connect({ 'certificate-authority-data': undefined, 'insecure-skip-tls-verify': true });
  expect((await post()).code).toBe(200);
});

test('silence ends in time, and so does an answer that drips', async () => {
  connect();
  webhook.respond = () => {};
  await expect(post({ timeoutMs: 100 })).rejects.toThrow('no answer within 0.1s');
  webhook.respond = (_request, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('x'), 20);
    response.once('close', () => clearInterval(timer));
  };
  await expect(post({ timeoutMs: 200 })).rejects.toThrow('no answer within 0.2s');
});

test('an answer that is too long is cut off', async () => {
  connect();
  webhook.respond = (_request, response) => void response.writeHead(200).end('x'.repeat(2000));
  await expect(post()).rejects.toThrow('longer than 1000 bytes');
});

test('when only the code counts, the answer is not waited for and may not go on for ever', async () => {
  connect();
  const cut = Promise.withResolvers<void>();
  webhook.respond = (_request, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('x'.repeat(10_000)), 5);
    response.once('close', () => {
      clearInterval(timer);
      cut.resolve();
    });
  };
  expect((await post({ maxAnswerBytes: 0 })).code).toBe(200);
  await cut.promise;
});

test('one request that fails leaves others their connection, and the next reads the file anew', async () => {
  let reads = 0;
  const path = webhook.kubeconfig();
  client = new WebhookClient(() => {
    reads += 1;
    return readClientConfig(path);
  });
  const release = Promise.withResolvers<void>();
  webhook.respond = (_request, response) => void release.promise.then(() => accept(_request, response, ''));
  const patient = post();
  await expect(post({ timeoutMs: 100 })).rejects.toThrow('no answer');
  release.resolve();
  expect((await patient).code).toBe(200);
  webhook.respond = accept;
  expect((await post()).code).toBe(200);
  expect(reads).toBe(2);
});

test('a dead server is an error, and one that came back is reached again', async () => {
  connect();
  await webhook.stop();
  await expect(post()).rejects.toThrow('ECONNREFUSED');
  await webhook.start();
  expect((await post()).code).toBe(200);
});

test('the signal of a request ends it', async () => {
  connect();
  const controller = new AbortController();
  webhook.respond = () => controller.abort();
  const posting = post({ signal: controller.signal });
  await expect(posting).rejects.toThrow(/abort/i);
});

test('a connection that ended while it was idle fails no request', async () => {
  const sockets = new Set<{ destroy(): unknown }>();
  webhook.respond = (request, response) => {
    sockets.add(request.socket);
    response.writeHead(200).end('{}');
  };
  connect();
  for (let round = 0; round < 5; round += 1) {
    expect((await post()).code).toBe(200);
    for (const socket of sockets) socket.destroy();
  }
});
