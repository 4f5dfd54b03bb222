import type { HostileRequest } from '../../kit/hostile-request.ts';

/** What stands in the first line and in the headers, 64 kB of them at most. */
const MAPS = '/api/v1/namespaces/default/configmaps';
const ROOM = 60_000;

const get = (name: string, path: string, headers: Readonly<Record<string, string>> = {}): HostileRequest => ({
  name,
  method: 'GET',
  path,
  headers,
});

const repeat = (piece: string, size = ROOM): string => piece.repeat(Math.floor(size / piece.length));

export const QUERIES: readonly HostileRequest[] = [
  get('a label selector of many requirements', `${MAPS}?labelSelector=${repeat('a,')}a`),
  get('a label selector of many values', `${MAPS}?labelSelector=a%20in(${repeat('b,')}b)`),
  get('a label selector of one long name', `${MAPS}?labelSelector=${repeat('a-')}`),
  get('a label selector of one long prefix', `${MAPS}?labelSelector=${repeat('a.')}/!`),
  get('a label selector of exclamation marks', `${MAPS}?labelSelector=${repeat('!')}`),
  get('a comparison with a long number', `${MAPS}?labelSelector=a%3E${repeat('9')}`),
  get('a field selector of many terms', `${MAPS}?fieldSelector=${repeat('metadata.name=a,')}metadata.name=a`),
  get('a field selector of backslashes', `${MAPS}?fieldSelector=metadata.name=${repeat('%5C')}`),
  get('a field selector of equals signs', `${MAPS}?fieldSelector=${repeat('!=')}`),
  get('many parameters', `${MAPS}?${repeat('a&')}`),
  get('a parameter given many times', `${MAPS}?${repeat('limit=1&')}`),
  get('a dry run asked for many times', `${MAPS}?${repeat('dryRun=x&')}`),
  {
    name: 'a field manager of control characters',
    method: 'POST',
    path: `${MAPS}?fieldManager=${repeat('%01')}`,
    body: () => '{}',
  },
  get('a continue token that is none', `${MAPS}?continue=${repeat('e30')}`),
  get('a resource version of many digits', `${MAPS}?resourceVersion=${repeat('9')}`),
  get('a path of many parts', `/api/v1/namespaces/default/configmaps${repeat('/a')}`),
  get('an escaped path', `/${repeat('%2f')}`),
  get('many media types', MAPS, { accept: repeat('application/json;as=Table;g=x;v=y,') }),
  get('a media type of many parameters', MAPS, { accept: `application/json${repeat(';a=b')}` }),
  get('many encodings', MAPS, { 'accept-encoding': repeat('gzip ,') }),
  get('a token of many parts', MAPS, { authorization: `Bearer ${repeat('a.')}` }),
  get('a token that begins like a JWT', MAPS, {
    authorization: `Bearer ${Buffer.from('{"alg":"RS256"}').toString('base64url')}.${repeat('e30')}.x`,
  }),
  get('a user agent that is long', MAPS, { 'user-agent': repeat('a/b (c) ') }),
  get('many groups to be impersonated', MAPS, { 'impersonate-user': 'a', 'impersonate-group': repeat('g,') }),
  get('keys of an impersonated user', MAPS, {
    'impersonate-user': 'a',
    [`impersonate-extra-${'%41'.repeat(10_000)}`]: 'x',
  }),
  get('a trace parent that is none', MAPS, { traceparent: repeat('00-') }),
  get('an origin that is long', MAPS, { origin: `https://${repeat('a.')}` }),
  {
    name: 'a body of a type that is none',
    method: 'POST',
    path: MAPS,
    headers: { 'content-type': `application/${repeat('j;')}` },
    body: () => '{}',
  },
];
