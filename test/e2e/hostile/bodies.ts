import type { HostileRequest } from '../../kit/hostile-request.ts';

/** JSON that is as wide, as deep or as faulty as three mebibytes allow. Every authenticated user may ask for a review. */
const MAX_BYTES = 3 * 1024 * 1024;
const REVIEW = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const RULES = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews';
const ACCESS = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const MAPS = '/api/v1/namespaces/default/configmaps';

/** A little below what a document may have: a refusal is cheap, what is just let in is what counts. */
const MANY_VALUES = 48_500;

/** As many of the pieces as the limits admit, commas between them. */
export function fill(before: string, piece: (at: number) => string, after: string): string {
  const pieces: string[] = [];
  let room = MAX_BYTES - before.length - after.length;
  let values = MANY_VALUES;
  for (let at = 0; ; at += 1) {
    const next = piece(at);
    room -= next.length + 1;
    values -=
      1 + (next.match(/,|\[(?!\])|\{(?!\})/g) ?? []).length + (next.match(/\[(?!\])|\{(?!\})/g) ?? []).length;
    if (room < 0 || values < 0) return before + pieces.join(',') + after;
    pieces.push(next);
  }
}

const post = (name: string, path: string, body: () => string | Buffer): HostileRequest => ({
  name,
  method: 'POST',
  path,
  body,
});

export const BODIES: readonly HostileRequest[] = [
  post('a key of a megabyte, repeated 2,000 times below it', REVIEW, () => {
    const repeated = Array(2000).fill('"a":1').join(',');
    return `{"${'k'.repeat(1024 * 1024)}":{${repeated}}}`;
  }),
  post('a key repeated as often as it fits', REVIEW, () => fill('{', () => '"a":1', '}')),
  post('two repeated keys at each of many places', REVIEW, () => fill('{"a":[', () => '{"a":1,"a":1}', ']}')),
  post('unknown fields', REVIEW, (): string => fill('{', (at) => `"field${at}":1`, '}')),
  post('unknown fields below a long list', RULES, () => fill('{"spec":{"x":[', () => '{"y":1}', ']}}')),
  post('empty objects', REVIEW, () => fill('{"a":[', () => '{}', ']}')),
  post('more values than there may be', REVIEW, () => `{"a":[${'[],'.repeat(1_000_000)}[]]}`),
  post('empty lists', REVIEW, () => fill('{"a":[', () => '[]', ']}')),
  post('objects of one field each its own', REVIEW, () => fill('{"a":[', (at) => `{"k${at}":1}`, ']}')),
  post('numbers', REVIEW, () => fill('{"a":[', () => '1', ']}')),
  post('long integers', REVIEW, () => fill('{"a":[', () => '12345678901234567890', ']}')),
  post('one number of a million digits', REVIEW, () => `{"a":${'9'.repeat(1024 * 1024)}}`),
  post('floating point numbers', REVIEW, () => fill('{"a":[', () => '1.2345678901234567e-300', ']}')),
  post('escaped texts', REVIEW, () => `{"a":"${'\\u0041'.repeat(500_000)}"}`),
  post('escaped keys', REVIEW, () => fill('{', (at) => `"\\u0041${at}":1`, '}')),
  post('keys that share a hash with none but are many', MAPS, () =>
    fill('{"metadata":{"name":"wide"},"data":{', (at) => `"k${at}":""`, '}}'),
  ),
  post(
    'lists nested 50,000 deep behind a repeated key',
    REVIEW,
    () => `{"a":{"b":1,"b":1},"x":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
  ),
  post('lists nested as deep as the body is long', REVIEW, () => '['.repeat(MAX_BYTES)),
  post('an access review of many groups', ACCESS, () =>
    fill(
      '{"spec":{"user":"a","resourceAttributes":{"verb":"get","resource":"pods"},"groups":[',
      (at) => `"g${at}"`,
      ']}}',
    ),
  ),
  post('an access review with extra keys', ACCESS, () =>
    fill(
      '{"spec":{"user":"a","resourceAttributes":{"verb":"get","resource":"pods"},"extra":{',
      (at) => `"e${at}":["x"]`,
      '}}}',
    ),
  ),
  post('a token of three megabytes', '/apis/authentication.k8s.io/v1/tokenreviews', () =>
    JSON.stringify({ spec: { token: 'a.'.repeat(1_500_000) } }),
  ),
  post('many audiences of a token', '/apis/authentication.k8s.io/v1/tokenreviews', () =>
    fill('{"spec":{"token":"x","audiences":[', (at) => `"a${at}"`, ']}}'),
  ),
  {
    name: 'options of a delete, wide',
    method: 'DELETE',
    path: `${MAPS}/nothing`,
    body: () => fill('{"dryRun":[', () => '"x"', ']}'),
  },
  {
    name: 'options of a delete of all, in unknown fields',
    method: 'DELETE',
    path: `${MAPS}?labelSelector=a%3Dnobody`,
    body: () => fill('{', (at) => `"u${at}":{}`, '}'),
  },
  post('protobuf that is no protobuf', REVIEW, () => Buffer.alloc(MAX_BYTES, 0xff)),
  {
    ...post('protobuf of empty fields', REVIEW, () =>
      Buffer.concat([Buffer.from('k8s\0'), Buffer.alloc(MAX_BYTES - 4, Buffer.of(0x12, 0))]),
    ),
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
  },
];
