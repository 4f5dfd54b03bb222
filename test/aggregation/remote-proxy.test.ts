import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { RemoteVersion } from '../../src/aggregation/managed-api-services.ts';
import { createRemoteProxy } from '../../src/aggregation/remote-proxy.ts';
import type { Logger } from '../../src/observability/logger.ts';
import type { AuthorizedRequest, ResourceTarget } from '../../src/request/api-request.ts';
import type { ApiResponse } from '../../src/request/api-response.ts';
import {
  type Backend,
  type BackendAnswer,
  BackendError,
  type BackendMessage,
} from '../../src/request/backend.ts';

/** Which requests are passed on, and how. */

const TLS = { ca: undefined, serverName: 'api.far.svc', isVerified: true };

const FAR: RemoteVersion = {
  ...{ name: 'v1.far.example.com', group: 'far.example.com', version: 'v1' },
  service: { namespace: 'far', name: 'api', port: 443 },
  ...{ tls: TLS, isAvailable: true, isChecked: true },
  ...{ groupPriority: 1, versionPriority: 1, server: 'far' },
};

interface Asked {
  readonly method?: string;
  readonly url: string;
  readonly headers?: readonly string[];
  readonly target?: Partial<ResourceTarget>;
  readonly upgrade?: string;
}

function requestOf({ method = 'GET', url, headers = [], target, upgrade = '' }: Asked): AuthorizedRequest {
  const byName: Record<string, string> = {};
  for (let at = 0; at < headers.length; at += 2)
    byName[(headers[at] ?? '').toLowerCase()] = headers[at + 1] ?? '';
  const request = {
    ...{ id: 'a1', method, path: decodeURIComponent(url.split('?')[0] ?? ''), headers: byName, target },
    raw: { headers, url, body: Readable.from(['body']), upgrade },
    user: { username: 'ann', uid: '1', groups: ['devs', 'ops'], extra: { 'a/b': ['1', '2'] } },
    sourceAddress: '10.1.1.1',
    signal: new AbortController().signal,
  };
  return request as unknown as AuthorizedRequest;
}

interface Wishes {
  readonly known?: RemoteVersion;
  readonly answer?: Partial<BackendAnswer> | Error;
  readonly rejectsRedirects?: boolean;
  readonly tellsUid?: boolean;
  readonly resolve?: () => Promise<{ host: string; port: number }>;
}

async function pass(
  asked: Asked,
  { known = FAR, answer = {}, rejectsRedirects = true, tellsUid = false, resolve }: Wishes = {},
): Promise<{
  response: ApiResponse | undefined;
  sent: { backend: Backend; message: BackendMessage } | undefined;
}> {
  let sent: { backend: Backend; message: BackendMessage } | undefined;
  const reply = async (backend: Backend, message: BackendMessage): Promise<BackendAnswer> => {
    sent = { backend, message };
    if (answer instanceof Error) throw answer;
    const plain = { kind: 'answer', code: 200, message: '', headers: {}, rawHeaders: [] } as const;
    return { ...plain, body: Readable.from([]), ...answer };
  };
  const proxy = createRemoteProxy({
    remote: {
      isEmpty: false,
      find: (group, version) => (group === known.group && version === known.version ? known : undefined),
    },
    resolver: { resolve: resolve ?? (async () => ({ host: '10.0.0.1', port: 443 })) },
    transport: { send: reply, upgrade: reply },
    rejectsRedirects,
    sandboxesPages: true,
    tellsUid,
    logger: { error: () => {} } as unknown as Logger,
  });
  return { response: await proxy(requestOf(asked)), sent };
}

const textOf = (response: ApiResponse | undefined): unknown =>
  response?.kind === 'bytes' ? [response.code, Buffer.concat(response.chunks).toString()] : response;

test.each([
  ['/apis/far.example.com/v1', true],
  ['/apis/far.example.com/v1/', true],
  ['/openapi/v3/apis/far.example.com/v1', true],
  ['/apis/far.example.com', false],
  ['/apis', false],
  ['/apis/far.example.com/v2', false],
  ['/api/v1', false],
  ['/openapi/v3/apis/apps/v1', false],
  ['/version/apis/far.example.com/v1', false],
])('of the paths that are no resources, %s is passed on: %s', async (url, isPassed) => {
  const { response } = await pass({ url });
  expect(response !== undefined).toBe(isPassed);
});

test('a resource is passed on by its group version, in every form of its path', async () => {
  const target = { group: 'far.example.com', version: 'v1' };
  const url = '/apis/far.example.com/v1/namespaces/a%20b/things/c%2520?watch=1&labelSelector=x%3Dy';
  const { sent } = await pass({ url, target });
  expect(sent?.backend).toEqual({
    ...{ scheme: 'https', host: '10.0.0.1', port: '443', trust: TLS },
    ...{ path: '/apis/far.example.com/v1/namespaces/a b/things/c%20', query: 'watch=1&labelSelector=x%3Dy' },
  });
  expect((await pass({ url, target: { group: 'apps', version: 'v1' } })).sent).toBeUndefined();
});

test('the other server receives the name and groups of the caller, once for each group and value', async () => {
  const headers = ['Host', 'us', 'X-Remote-User', 'eve', 'X-REMOTE-EXTRA-a%2Fb', 'eve', 'Audit-ID', 'own'];
  const { sent } = await pass({ url: '/apis/far.example.com/v1', headers });
  expect(sent?.message.headers).toEqual([
    ...['Host', '10.0.0.1:443', 'X-Forwarded-For', '10.1.1.1'],
    ...[
      'X-Forwarded-Uri',
      '/apis/far.example.com/v1',
      'X-Forwarded-Host',
      'us',
      'X-Forwarded-Proto',
      'https',
    ],
    ...['Audit-Id', 'a1', 'X-Remote-User', 'ann', 'X-Remote-Group', 'devs', 'X-Remote-Group', 'ops'],
    ...['X-Remote-Extra-a%2Fb', '1', 'X-Remote-Extra-a%2Fb', '2'],
  ]);
  const withUid = await pass({ url: '/apis/far.example.com/v1', headers }, { tellsUid: true });
  expect(withUid.sent?.message.headers.join()).toContain('X-Remote-User,ann,X-Remote-Uid,1,X-Remote-Group');
});

test.each<[what: string, wishes: Wishes, answer: readonly [number, string]]>([
  [
    'a server that is not available',
    { known: { ...FAR, isAvailable: false } },
    [503, 'service unavailable\n'],
  ],
  [
    'a service that is nowhere',
    { resolve: () => Promise.reject(new Error('service "api" not found')) },
    [503, 'service unavailable\n'],
  ],
  [
    'a server that does not answer',
    { answer: new BackendError('dial tcp 10.0.0.1:443: i/o timeout') },
    [503, 'error trying to reach service: dial tcp 10.0.0.1:443: i/o timeout\n'],
  ],
])('%s is answered in plain text', async (_, wishes, answer) => {
  const { response } = await pass({ url: '/apis/far.example.com/v1' }, wishes);
  expect(textOf(response)).toEqual(answer);
  expect(response).toMatchObject({ contentType: 'text/plain; charset=utf-8' });
});

const moved = (location: string): Partial<BackendAnswer> => ({
  ...{ code: 302, headers: { location }, rawHeaders: ['Location', location] },
});

test('redirects are refused, but for one to the newer name of a document', async () => {
  const refused = [502, 'the backend attempted to redirect this request, which is not permitted\n'];
  const path = '/openapi/v3/apis/far.example.com/v1';
  for (const [url, location] of [
    ['/apis/far.example.com/v1', '/apis'],
    [path, 'https://evil.example.com/?hash=1'],
    [path, '/api/v1/secrets'],
  ] as const)
    expect(textOf((await pass({ url }, { answer: moved(location) })).response)).toEqual(refused);
  const { response } = await pass({ url: `${path}?hash=0` }, { answer: moved(`${path}?hash=1`) });
  expect(response).toMatchObject({ code: 302, headers: { location: `${path}?hash=1` } });
});

test('with the flag redirects are passed on, and those to the server itself lead through this one', async () => {
  const answer = moved('https://10.0.0.1:443/apis/far.example.com/v1/other?x=1');
  const { response } = await pass({ url: '/apis/far.example.com/v1' }, { answer, rejectsRedirects: false });
  expect(response).toMatchObject({
    code: 302,
    headers: { location: '/apis/far.example.com/v1/other?x=1' },
  });
});

test('an upgrade that is refused is answered with the refusal, and one that is neither is an error', async () => {
  const asked = { url: '/apis/far.example.com/v1', upgrade: 'websocket', headers: ['Upgrade', 'websocket'] };
  const { response } = await pass(asked, { answer: { code: 403 } });
  expect(response).toMatchObject({ kind: 'stream', code: 403 });
  expect(textOf((await pass(asked, { answer: { code: 200 } })).response)).toEqual([
    503,
    'invalid upgrade response: status code 200\n',
  ]);
});

test('a watch does not count here until it ends', async () => {
  const { response } = await pass({ url: '/apis/far.example.com/v1' });
  if (response?.kind !== 'stream') throw new Error('it should be a stream');
  const calls: string[] = [];
  await response.run({
    open: () => void calls.push('open'),
    write: () => true,
    drained: async () => {},
    initialized: () => void calls.push('initialized'),
  });
  expect(calls).toEqual(['initialized', 'open']);
});
