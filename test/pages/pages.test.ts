import { expect, test } from 'vitest';
import { createPages, inPieces, isUnknown, type Pages, toPageHandler } from '../../src/pages/pages.ts';
import type { ApiRequest } from '../../src/request/api-request.ts';
import type { ApiResponse, ResponseSink } from '../../src/request/api-response.ts';

interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly query?: string;
  readonly signal?: AbortSignal;
  readonly body?: (limitBytes: number) => Promise<Buffer>;
}

/** As much of a request as pages look at. */
function ask(
  pages: Pages,
  { method = 'GET', path, query = '', ...rest }: Asked,
): Promise<ApiResponse | undefined> {
  const signal = new AbortController().signal;
  const body = (): Promise<Buffer> => Promise.reject(new Error('the body is not read here'));
  const request = { method, path, query: new URLSearchParams(query), signal, body, ...rest };
  return toPageHandler(pages)(request as unknown as ApiRequest);
}

const textOf = (response: ApiResponse | undefined): string | undefined =>
  response?.kind === 'bytes' ? Buffer.concat(response.chunks).toString() : undefined;

test('a page is found by the path that was authorized, not by what a URL would make of it', async () => {
  const pages = createPages()
    .get('/metrics', ({ text }) => text('metrics'))
    .get('/healthz/:check{.+}', ({ req, text }) => text(req.param('check')));
  expect(textOf(await ask(pages, { path: '/healthz/../metrics' }))).toBe('../metrics');
  expect(textOf(await ask(pages, { path: '/healthz/%70ing' }))).toBe('%70ing');
  expect(textOf(await ask(pages, { path: '/healthz/a?b#c' }))).toBe('a?b#c');
  for (const path of ['//metrics', '/metrics/', '/x/../metrics', '/%6detrics', '/http://x/metrics', '/'])
    expect(await ask(pages, { path }), path).toBeUndefined();
});

test('HEAD is answered like GET, and no method is too strange to be asked with', async () => {
  const pages = createPages()
    .get('/one', ({ text }) => text('read'))
    .all('/two', ({ req, text }) => text(req.method));
  expect(textOf(await ask(pages, { path: '/one', method: 'HEAD' }))).toBe('read');
  expect(await ask(pages, { path: '/one', method: 'POST' })).toBeUndefined();
  for (const method of ['TRACE', 'CONNECT', 'BREW', 'OPTIONS'])
    expect(textOf(await ask(pages, { path: '/two', method }))).toBe(method);
});

test('a body is received when a page reads it, and its failure is the page’s', async () => {
  const pages = createPages()
    .put('/blind', ({ text }) => text('not read'))
    .put('/reader', async ({ req, text }) => text(await req.text()));
  expect(textOf(await ask(pages, { path: '/blind', method: 'PUT' }))).toBe('not read');
  const body = async (limitBytes: number): Promise<Buffer> => Buffer.from(`up to ${limitBytes}`);
  expect(textOf(await ask(pages, { path: '/reader', method: 'PUT', body }))).toBe('up to 16');
  const broken = new Error('413');
  const failing = ask(pages, { path: '/reader', method: 'PUT', body: () => Promise.reject(broken) });
  await expect(failing).rejects.toBe(broken);
});

test('an error of a page reaches the pipeline as it was thrown', async () => {
  const error = new Error('a status');
  const pages = createPages()
    .get('/now', () => {
      throw error;
    })
    .get('/later', () => Promise.reject(error));
  for (const path of ['/now', '/later']) await expect(ask(pages, { path })).rejects.toBe(error);
});

test('a page hears of its client going away', async () => {
  const stop = new AbortController();
  const pages = createPages().get('/', async ({ req, text }) => {
    await new Promise((resolve) => req.raw.signal.addEventListener('abort', resolve));
    return text('ended early');
  });
  const answer = ask(pages, { path: '/', signal: stop.signal });
  stop.abort();
  expect(textOf(await answer)).toBe('ended early');
});

test('an answer keeps its code, type and headers, and text is never compressed', async () => {
  const headers = { 'content-type': 'application/yaml', etag: '"a"' };
  const pages = createPages()
    .get('/yaml', () => new Response('a: 1', { status: 203, headers }))
    .get('/text', ({ text }) => text('a'))
    .get('/moved', ({ redirect }) => redirect('/yaml'));
  expect(await ask(pages, { path: '/yaml' })).toMatchObject({
    ...{ kind: 'bytes', code: 203, contentType: 'application/yaml' },
    ...{ headers: { etag: '"a"' }, compressible: true },
  });
  expect(await ask(pages, { path: '/text' })).toMatchObject({ compressible: false });
  expect(await ask(pages, { path: '/moved' })).toMatchObject({
    ...{ code: 302, contentType: '', headers: { location: '/yaml' } },
  });
});

test('a chunked page is streamed, no faster than the client reads', async () => {
  const order: string[] = [];
  async function* parts(): AsyncGenerator<Buffer> {
    for (const part of ['a', 'b']) {
      order.push(`made ${part}`);
      yield Buffer.from(part);
    }
  }
  const headers = { 'transfer-encoding': 'chunked', 'content-type': 'application/json' };
  const pages = createPages().get('/', () => new Response(parts(), { headers }));
  const response = await ask(pages, { path: '/' });
  expect(response).toMatchObject({ kind: 'stream', code: 200, contentType: 'application/json', headers: {} });
  const sink: ResponseSink = {
    open: () => {},
    write: (frame) => {
      order.push(`sent ${frame}`);
      return false;
    },
    drained: async () => {
      order.push('drained');
    },
  };
  if (response?.kind === 'stream') await response.run(sink);
  expect(order.filter((what) => !what.startsWith('made'))).toEqual([
    'sent a',
    'drained',
    'sent b',
    'drained',
  ]);
});

test('an unknown path differs from an answer that says 404', async () => {
  const pages = createPages().get('/gone', ({ text }) => text('gone', 404));
  expect(await ask(pages, { path: '/gone' })).toMatchObject({ code: 404 });
  expect(isUnknown(await pages.request('/other'))).toBe(true);
});

test('a body in pieces is made when it is sent, and not when it is asked for', async () => {
  let made = 0;
  function* pieces(): Iterable<Buffer> {
    made += 1;
    yield Buffer.from('{');
    yield Buffer.from('}');
  }
  const headers = { 'content-type': 'application/json', etag: '"1"' };
  const response = await ask(
    createPages().get('/large', () => inPieces(pieces(), headers)),
    { path: '/large' },
  );
  expect(response).toMatchObject({ kind: 'bytes', code: 200, headers: { etag: '"1"' }, compressible: true });
  expect(made).toBe(0);
  expect(textOf(response)).toBe('');
  if (response?.kind !== 'bytes') throw new Error('it is no answer of bytes');
  expect(Buffer.concat([...(response.rest ?? [])]).toString()).toBe('{}');
});
