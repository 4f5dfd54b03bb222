import { expect, test } from 'vitest';
import { ClusterInfoSigning, signDetached } from '../../../src/controllers/joining/cluster-info.ts';
import { configmaps } from '../../../src/resources/core/config-map.ts';
import { secrets } from '../../../src/resources/core/secret.ts';
import { createTestClient } from '../../kit/client.ts';

const NOW = new Date('2026-02-02T00:00:00Z');
const MAP = { namespace: 'kube-public', name: 'cluster-info' };

interface Token {
  readonly name?: string;
  readonly namespace?: string;
  readonly type?: string;
  readonly data?: Record<string, string>;
}

const token = ({ name = 'bootstrap-token-abcdef', namespace = 'kube-system', type, data = {} }: Token) => ({
  kind: 'Secret',
  apiVersion: 'v1',
  metadata: { namespace, name },
  type: type ?? 'bootstrap.kubernetes.io/token',
  data: Object.fromEntries(
    Object.entries({
      'token-id': 'abcdef',
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-signing': 'true',
      ...data,
    }).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  ),
});

/** The data of the map after one look. */
async function sign(data: Record<string, string> | undefined, tokens: readonly Token[]) {
  const { client, store } = createTestClient({ definitions: [configmaps, secrets] });
  if (data !== undefined)
    store.put('', 'configmaps', { kind: 'ConfigMap', apiVersion: 'v1', metadata: MAP, data } as never);
  for (const one of tokens) store.put('', 'secrets', token(one));
  const signing = new ClusterInfoSigning({ client, now: () => NOW, onError: () => {} });
  await signing.sign();
  const first = store.commits.length;
  await signing.sign();
  expect(store.commits).toHaveLength(first);
  return (await client.get(configmaps, MAP))?.data;
}

// Made with Kubernetes' own header, which clients compare to the byte.
const SIGNED = signDetached('hello', 'abcdef', '0123456789abcdef');

test('the signature is a JWS of the content, without it', async () => {
  const [header = '', content, signature = ''] = SIGNED.split('.');
  expect(Buffer.from(header, 'base64url').toString()).toBe('{"alg":"HS256","kid":"abcdef"}');
  expect(content).toBe('');
  const { compactVerify } = await import('jose');
  const whole = `${header}.${Buffer.from('hello').toString('base64url')}.${signature}`;
  const key = Buffer.concat([Buffer.from('0123456789abcdef'), Buffer.alloc(16)]);
  expect(Buffer.from((await compactVerify(whole, key)).payload).toString()).toBe('hello');
});

test('each token for signing signs; signatures of tokens that are gone or changed go', async () => {
  const other = { 'token-id': '123456', 'token-secret': 'fedcba9876543210' };
  const stale = { 'jws-kubeconfig-gone00': 'x', 'jws-kubeconfig-abcdef': 'y', note: 'z' };
  const tokens = [{}, { name: 'bootstrap-token-123456', data: other }];
  expect(await sign({ kubeconfig: 'hello', ...stale }, tokens)).toEqual({
    kubeconfig: 'hello',
    note: 'z',
    'jws-kubeconfig-abcdef': SIGNED,
    'jws-kubeconfig-123456': signDetached('hello', '123456', 'fedcba9876543210'),
  });
  expect(await sign({ kubeconfig: 'hello', ...stale }, [])).toEqual({ kubeconfig: 'hello', note: 'z' });
});

test('without the map, or a kubeconfig in it, there is nothing to sign', async () => {
  expect(await sign(undefined, [{}])).toBeUndefined();
  expect(await sign({ 'jws-kubeconfig-gone00': 'x' }, [{}])).toEqual({ 'jws-kubeconfig-gone00': 'x' });
});

test.each<[string, Token]>([
  ['is not for signing', { data: { 'usage-bootstrap-signing': 'false' } }],
  ['has expired', { data: { expiration: '2026-02-01T23:59:59Z' } }],
  ['has an expiry that cannot be read', { data: { expiration: 'soon' } }],
  ['has another id than its name', { data: { 'token-id': 'fedcba' } }],
  ['has no secret', { data: { 'token-secret': '' } }],
  ['is in another namespace', { namespace: 'default' }],
  ['has another name', { name: 'abcdef' }],
  ['is of another type', { type: 'Opaque' }],
])('a secret that %s signs nothing', async (_, one) => {
  expect(await sign({ kubeconfig: 'hello' }, [one])).toEqual({ kubeconfig: 'hello' });
});
