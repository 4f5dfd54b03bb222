import { beforeEach, expect, test } from 'vitest';
import {
  type Authentication,
  type Authenticator,
  createAnonymousAccess,
  createUnion,
} from '../../src/authn/authenticator.ts';
import {
  createBearerAuthenticator,
  createTokenUnion,
  forAudiences,
  type TokenAuthenticator,
  TokenCache,
} from '../../src/authn/token.ts';

const user = (username: string, groups: string[] = []) => ({ username, uid: '', groups, extra: {} });
const ann: Authentication = { user: user('ann') };
let asked: number;
let nowMs: number;

beforeEach(() => {
  asked = 0;
  nowMs = 1000;
});

const knows = (known: Record<string, Authentication | Error>): TokenAuthenticator => ({
  authenticate: async (token) => {
    asked += 1;
    const found = known[token];
    if (found instanceof Error) throw found;
    return found;
  },
});

const cached = (known: Record<string, Authentication | Error>) =>
  new TokenCache({ tokens: knows(known), successTtlMs: 10_000, failureTtlMs: 1000, now: () => nowMs });

test('an answer is remembered for its time, and not beyond the end of the token', async () => {
  const cache = cached({ long: ann, short: { ...ann, expiresAtMs: 3000 } });
  for (const token of ['long', 'long', 'short', 'short']) await cache.authenticate(token, ['a']);
  expect(asked).toBe(2);
  nowMs = 3000;
  await cache.authenticate('short', ['a']);
  await cache.authenticate('long', ['a']);
  expect(asked).toBe(3);
  nowMs = 11_001;
  await cache.authenticate('long', ['a']);
  expect(asked).toBe(4);
});

test('an answer for one audience is none for another', async () => {
  const cache = cached({ t: ann });
  await cache.authenticate('t', ['a']);
  await cache.authenticate('t', ['b']);
  expect(asked).toBe(2);
});

test('requests that come together ask once, and errors are asked about again', async () => {
  const cache = cached({ t: ann, broken: new Error('out of order') });
  await Promise.all(Array.from({ length: 10 }, () => cache.authenticate('t', ['a'])));
  expect(asked).toBe(1);
  await expect(cache.authenticate('broken', ['a'])).rejects.toThrow('out of order');
  await expect(cache.authenticate('broken', ['a'])).rejects.toThrow('out of order');
  expect(asked).toBe(3);
  await cache.authenticate('unknown', ['a']);
  await cache.authenticate('unknown', ['a']);
  expect(asked).toBe(4);
  nowMs += 1001;
  await cache.authenticate('unknown', ['a']);
  expect(asked).toBe(5);
});

test('the first that knows a token decides, and errors matter only when none knows it', async () => {
  const union = createTokenUnion([knows({ t: new Error('mine and wrong') }), knows({ t: ann })]);
  expect(await union.authenticate('t', [])).toBe(ann);
  const both = createTokenUnion([knows({ t: new Error('one') }), knows({ t: new Error('two') })]);
  await expect(both.authenticate('t', [])).rejects.toThrow('[one, two]');
});

test('a token without audiences is for this server alone', async () => {
  const tokens = forAudiences(['api', 'other'], knows({ t: ann }));
  expect(await tokens.authenticate('t', ['vault', 'api'])).toEqual({ ...ann, audiences: ['api'] });
  expect(await tokens.authenticate('t', ['vault'])).toBe(undefined);
  expect(asked).toBe(1);
});

const credentials = (headers: Record<string, string>) => ({
  headers: { ...headers },
  raw: { headers: Object.entries(headers).flat() },
  peerCertificate: undefined,
});
const bearer = createBearerAuthenticator(knows({ 'secret-1': ann }), ['api']);
const encoded = (token: string): string =>
  `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`;
const websocket = (protocols: string) =>
  credentials({ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-protocol': protocols });

test('a websocket may carry its token as a protocol, which inner stages do not see', async () => {
  const request = websocket(`v4.channel.k8s.io, ${encoded('secret-1')}, v5.channel.k8s.io`);
  expect((await bearer.authenticate(request))?.user.username).toBe('ann');
  expect(request.headers['sec-websocket-protocol']).toBe('v4.channel.k8s.io,v5.channel.k8s.io');
  const wrong: Record<string, string> = {
    [`x, ${encoded('secret-2')}`]: 'invalid bearer token',
    [encoded('secret-1')]: 'missing additional subprotocol',
    [`x, ${encoded('secret-1')}, ${encoded('secret-1')}a`]: 'multiple',
    'x, base64url.bearer.authorization.k8s.io.a+b': 'encoding',
    'x, base64url.bearer.authorization.k8s.io._w': 'invalid base64.bearer.authorization token',
  };
  for (const [protocols, why] of Object.entries(wrong)) {
    await expect(bearer.authenticate(websocket(protocols))).rejects.toThrow(why);
  }
  const plain = credentials({ 'sec-websocket-protocol': `x, ${encoded('secret-1')}` });
  expect(await bearer.authenticate(plain)).toBe(undefined);
});

test('every known user is in system:authenticated, except for users in system:unauthenticated', async () => {
  const fixed = (found: Authentication | Error | undefined): Authenticator => ({
    authenticate: () => {
      if (found instanceof Error) throw found;
      return found;
    },
  });
  const groups = async (...found: (Authentication | Error | undefined)[]) =>
    (await createUnion(found.map(fixed)).authenticate(credentials({})))?.user.groups;
  expect(await groups(undefined, ann)).toEqual(['system:authenticated']);
  expect(await groups(new Error('no'), ann)).toEqual(['system:authenticated']);
  expect(await groups({ user: user('x', ['system:unauthenticated']) })).toEqual(['system:unauthenticated']);
  expect(await groups({ user: user('system:anonymous') })).toEqual([]);
  expect(await groups(undefined)).toBe(undefined);
  await expect(groups(new Error('no'), undefined)).rejects.toThrow('no');
});

test('the unknown come in where they may', () => {
  expect(createAnonymousAccess({ enabled: false }).allows('/version')).toBe(false);
  expect(createAnonymousAccess({ enabled: true }).allows('/api')).toBe(true);
  const some = createAnonymousAccess({ enabled: true, paths: ['/version'] });
  expect([some.allows('/version'), some.allows('/version/'), some.allows('/api')]).toEqual([
    true,
    false,
    false,
  ]);
});
