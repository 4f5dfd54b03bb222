import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { answeredHeaders, forwardedHeaders, spdyHeaders } from '../../src/proxy/headers.ts';
import type { ApiRequest } from '../../src/request/api-request.ts';
import type { BackendAnswer } from '../../src/request/backend.ts';

function requestOf(raw: readonly string[], upgrade = ''): ApiRequest {
  const headers: Record<string, string> = {};
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase();
    headers[name] = headers[name] === undefined ? (raw[at + 1] ?? '') : `${headers[name]}, ${raw[at + 1]}`;
  }
  const request = {
    headers,
    raw: { headers: raw, url: '/', body: Readable.from([]), upgrade },
    sourceAddress: '10.1.1.1',
  };
  return request as unknown as ApiRequest;
}

test('spelling, order and repetition of headers survive', () => {
  const raw = ['Host', 'a', 'X-Stream-Protocol-Version', 'v4', 'x-stream-protocol-version', 'v3', 'B', '1'];
  expect(forwardedHeaders(requestOf(raw))).toEqual([...raw, 'X-Forwarded-For', '10.1.1.1']);
});

test('headers of the connection and of the caller stay here', () => {
  const raw = [
    ...['Connection', 'close, X-Hop', 'X-Hop', '1', 'TE', 'trailers', 'Keep-Alive', 'timeout=5'],
    ...[
      'Authorization',
      'Bearer a',
      'Impersonate-User',
      'b',
      'X-Remote-Extra-Scopes',
      'c',
      'Expect',
      '100-continue',
    ],
  ];
  expect(forwardedHeaders(requestOf(raw))).toEqual(['X-Forwarded-For', '10.1.1.1']);
});

test('what servers say to each other is no client’s to say, however a program folds the names', () => {
  const raw = [
    ...[
      'x_remote_user',
      'root',
      'X_Remote-Group',
      'system:masters',
      'X.Remote.Extra.a',
      'b',
      'x_remote_uid',
      '1',
    ],
    ...[
      'Impersonate_User',
      'root',
      'X_Forwarded_For',
      '10.9.9.9',
      'X-Forwarded-Uri',
      '/else',
      'content_length',
      '5',
    ],
    ...[
      'X-Kubernetes-APIServer-Rerouted',
      'True',
      'X_KUBERNETES_APISERVER_REROUTED',
      'true',
      'transfer_encoding',
      'x',
    ],
    ...['Under_score', 'kept'],
  ];
  expect(forwardedHeaders(requestOf(raw))).toEqual(['Under_score', 'kept', 'X-Forwarded-For', '10.1.1.1']);
});

test('a Connection header cannot take away what is for all recipients', () => {
  const kept = ['Host', 'a', 'Content-Type', 'b', 'Content-Length', '5', 'Cookie', 'c', 'Origin', 'd'];
  const raw = [
    ...kept,
    'Connection',
    'host, Content-Type,content-length, cookie, ORIGIN, x-hop',
    'X-Hop',
    '1',
  ];
  expect(forwardedHeaders(requestOf(raw))).toEqual([...kept, 'X-Forwarded-For', '10.1.1.1']);
});

test('a header that a stage has taken away is not passed on', () => {
  const request = requestOf(['X-Secret', '1', 'X-Other', '2']);
  delete request.headers['x-secret'];
  expect(forwardedHeaders(request)).toEqual(['X-Other', '2', 'X-Forwarded-For', '10.1.1.1']);
});

test('a websocket becomes a request for SPDY without a trace of it', () => {
  const raw = [
    ...['Host', 'a', 'Connection', 'Upgrade', 'Upgrade', 'websocket', 'Sec-WebSocket-Key', 'k'],
    ...['Sec-WebSocket-Protocol', 'base64url.bearer.authorization.k8s.io.eA, v5.channel.k8s.io'],
  ];
  const request = requestOf(raw, 'websocket');
  expect(forwardedHeaders(request)).toEqual([
    ...['Host', 'a', 'Sec-WebSocket-Key', 'k', 'Sec-WebSocket-Protocol', 'v5.channel.k8s.io'],
    ...['X-Forwarded-For', '10.1.1.1', 'Connection', 'Upgrade', 'Upgrade', 'websocket'],
  ]);
  expect(spdyHeaders(request, ['v4.channel.k8s.io'])).toEqual([
    ...['Host', 'a', 'X-Forwarded-For', '10.1.1.1', 'Connection', 'Upgrade', 'Upgrade', 'SPDY/3.1'],
    ...['X-Stream-Protocol-Version', 'v4.channel.k8s.io', 'Content-Length', '0'],
  ]);
});

test('headers of the connection and of CORS are left out of answers', () => {
  const rawHeaders = [
    ...['Content-Type', 'a/b', 'Set-Cookie', '1', 'set-cookie', '2', 'Transfer-Encoding', 'chunked'],
    ...['Access-Control-Allow-Origin', '*', 'Access-Control-Max-Age', '5'],
  ];
  const answer = { rawHeaders, headers: {} } as unknown as BackendAnswer;
  expect(answeredHeaders(answer)).toEqual({
    'content-type': 'a/b',
    'set-cookie': ['1', '2'],
    'access-control-max-age': '5',
  });
});
