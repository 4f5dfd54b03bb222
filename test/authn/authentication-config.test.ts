import { createHash } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { stringify } from 'yaml';
import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import { fromOidcFlags, parseAuthenticationConfig } from '../../src/authn/jwt/authentication-config.ts';
import { JwtAuthenticators } from '../../src/authn/jwt/jwt-authenticator.ts';
import { JwtMetrics } from '../../src/authn/jwt/jwt-metrics.ts';
import { toUser } from '../../src/authn/jwt/user-mapping.ts';
import { PATIENCE } from '../kit/patience.ts';
import { vary } from '../kit/variations.ts';

const RULES = {
  disallowedIssuers: ['https://own.example.com'],
  anonymousAllowed: true,
  egressAllowed: true,
};
const GOOD: JsonObject = {
  apiVersion: 'apiserver.config.k8s.io/v1beta1',
  kind: 'AuthenticationConfiguration',
  jwt: [
    {
      issuer: { url: 'https://idp.example.com', audiences: ['cluster'] },
      claimMappings: { username: { claim: 'sub', prefix: '' } },
    },
  ],
};

const read = (config: JsonObject, rules = RULES) => parseAuthenticationConfig(stringify(config), rules);
const refuse = (path: string, value: JsonObject[string], why: string): void => {
  expect(() => read(vary(GOOD, path, value))).toThrow(why);
};

test('a small configuration is enough', () => {
  const { jwt, anonymous } = read(GOOD);
  expect(jwt[0]).toMatchObject({
    issuer: { url: 'https://idp.example.com', audiences: ['cluster'] },
    username: { kind: 'claim', claim: 'sub', prefix: '' },
  });
  expect(anonymous).toBe(undefined);
  expect(read(vary(GOOD, 'apiVersion', 'apiserver.config.cluster.io/v1alpha1')).jwt).toHaveLength(1);
});

test('an issuer names the way to its documents, where the feature is on', () => {
  const by = (name: string): JsonObject => vary(GOOD, 'jwt.0.issuer.egressSelectorType', name);
  expect(read(GOOD).jwt[0]?.issuer.egress).toBeUndefined();
  for (const name of ['controlplane', 'cluster']) expect(read(by(name)).jwt[0]?.issuer.egress).toBe(name);
  const at = 'jwt[0].issuer.egressSelectorType: Invalid value';
  expect(() => read(by('etcd'))).toThrow(
    `${at}: "etcd": egress selector must be either controlplane or cluster`,
  );
  expect(() => read(by('cluster'), { ...RULES, egressAllowed: false })).toThrow(
    `${at}: "cluster": not supported when the feature gate StructuredAuthenticationConfigurationEgressSelector is disabled`,
  );
});

test('verifications and key sets of issuers are measured, until an issuer is no longer configured', async () => {
  const metrics = new JwtMetrics({ server: 'here', showsKeySets: true, now: () => 7000 });
  let keySet = '{"keys":[]}';
  const tokens = new JwtAuthenticators({
    configs: read(GOOD).jwt,
    apiAudiences: ['cluster'],
    createGet: () => async (url) => {
      if (url.endsWith('/keys') && keySet === '') throw new Error('away');
      return url.endsWith('/keys')
        ? keySet
        : JSON.stringify({ issuer: 'https://idp.example.com', jwks_uri: 'https://idp.example.com/keys' });
    },
    onError: () => {},
    metrics,
  });
  const stop = new AbortController();
  const running = tokens.run(stop.signal);
  const parts = [{ alg: 'RS256' }, { iss: 'https://idp.example.com' }].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const hash = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;
  const jwt_issuer_hash = hash('https://idp.example.com');
  const apiserver_id_hash = hash('here');
  const samples = (end: string) =>
    metrics.instruments
      .find(({ name }) => name.endsWith(end))
      ?.collect()
      .samples.map(({ labels, value }) => ({ ...labels, value }));
  const authenticate = async () => tokens.authenticate(`${parts.join('.')}.x`, ['cluster']);
  await vi.waitFor(async () => {
    await authenticate().catch(() => {});
    expect(samples('last_key_set_info')).toEqual([
      { jwt_issuer_hash, apiserver_id_hash, hash: hash(keySet), value: 1 },
    ]);
  }, PATIENCE);
  expect(samples('last_timestamp_seconds')).toEqual([
    { result: 'success', jwt_issuer_hash, apiserver_id_hash, value: 7 },
  ]);
  expect(samples('latency_seconds')).toContainEqual(
    expect.objectContaining({ result: 'failure', jwt_issuer_hash }),
  );
  keySet = '';
  metrics.fetched('https://idp.example.com', undefined);
  expect(samples('last_timestamp_seconds')).toHaveLength(2);
  await tokens.replace([]);
  expect([...(samples('last_key_set_info') ?? []), ...(samples('last_timestamp_seconds') ?? [])]).toEqual([]);
  stop.abort();
  await running;
  const silent = new JwtMetrics({ server: 'here', showsKeySets: false });
  expect(silent.instruments.map(({ name }) => name)).toEqual([
    'apiserver_authentication_jwt_authenticator_latency_seconds',
  ]);
});

test('the version of the file may be the stable one', () => {
  expect(read(vary(GOOD, 'apiVersion', 'apiserver.config.k8s.io/v1')).jwt).toHaveLength(1);
});

test('errors of the file itself are named', () => {
  refuse('apiVersion', 'v1', 'apiVersion: Unsupported value: "v1"');
  refuse('kind', undefined, 'kind: Required value');
  refuse('jwtt', [], 'jwtt: unknown field');
  refuse('jwt.0.issuer.uri', 'x', 'jwt[0].issuer.uri: unknown field');
  refuse('jwt', 'x', 'jwt: must be a list');
  expect(() => parseAuthenticationConfig('{', RULES)).toThrow(
    'yaml: line 1: did not find expected node content',
  );
  expect(() => parseAuthenticationConfig('', RULES)).toThrow('kind: Required value');
});

test('the URL of an issuer is https, without password, query or fragment, and not that of this server', () => {
  refuse('jwt.0.issuer.url', '', 'jwt[0].issuer.url: Required value: URL is required');
  refuse('jwt.0.issuer.url', 'http://idp.example.com', 'URL scheme must be https');
  refuse('jwt.0.issuer.url', 'https://u:p@idp.example.com', 'URL must not contain a username or password');
  refuse('jwt.0.issuer.url', 'https://idp.example.com?x=1', 'URL must not contain a query');
  refuse('jwt.0.issuer.url', 'https://idp.example.com#x', 'URL must not contain a fragment');
  refuse('jwt.0.issuer.url', 'https://own.example.com', 'URL must not overlap with disallowed issuers');
  refuse('jwt.0.issuer.discoveryURL', 'https://idp.example.com/', 'discoveryURL must be different from URL');
  refuse('jwt.0.issuer.certificateAuthority', 'x', 'certificateAuthority: Invalid value: "<omitted>"');
  refuse('jwt.0.issuer.audiences', [], 'jwt[0].issuer.audiences: Required value');
  refuse('jwt.0.issuer.audiences', ['a', 'a'], 'jwt[0].issuer.audiences[1]: Duplicate value: "a"');
  refuse('jwt.0.issuer.audiences', ['a', 'b'], 'audienceMatchPolicy must be MatchAny for multiple audiences');
  const [one] = GOOD.jwt as JsonObject[];
  expect(() => read({ ...GOOD, jwt: [one, one] as JsonObject[] })).toThrow(
    'jwt[1].issuer.url: Duplicate value: "https://idp.example.com"',
  );
});

test('a mapping is a claim or an expression', () => {
  const mappings = 'jwt.0.claimMappings';
  refuse(`${mappings}.username`, {}, 'jwt[0].claimMappings.username: Required value');
  refuse(`${mappings}.username`, { claim: 'sub' }, 'prefix is required when claim is set');
  refuse(
    `${mappings}.username`,
    { claim: 'a', expression: 'claims.a' },
    "claim and expression can't both be set",
  );
  refuse(
    `${mappings}.username`,
    { expression: 'claims.a', prefix: 'x' },
    "prefix can't be set when expression is set",
  );
  refuse(
    `${mappings}.username`,
    { expression: 'claims.' },
    'username.expression: Invalid value: "claims.": compilation failed',
  );
  refuse(`${mappings}.username`, { expression: 'claims.email' }, 'claims.email_verified must be used');
  refuse(`${mappings}.groups`, { claim: 'g' }, 'groups.prefix: Required value');
  refuse(`${mappings}.uid`, { claim: 'a', expression: 'claims.a' }, "claim and expression can't both be set");
  refuse(`${mappings}.extra`, [{ key: 'foo', valueExpression: "'x'" }], 'must be a domain-prefixed path');
  refuse(`${mappings}.extra`, [{ key: 'A.com/x', valueExpression: "'x'" }], 'key must be lowercase');
  refuse(`${mappings}.extra`, [{ key: 'a.com/x' }], 'valueExpression is required');
  const key = { key: 'a.com/x', valueExpression: "'x'" };
  refuse(`${mappings}.extra`, [key, key], 'jwt[0].claimMappings.extra[1].key: Duplicate value');
  const verified = vary(GOOD, `${mappings}.username`, { expression: 'claims.email' });
  const rule = { expression: 'claims.?email_verified.orValue(true) == true' };
  expect(read(vary(verified, 'jwt.0.claimValidationRules', [rule])).jwt).toHaveLength(1);
});

test('a rule is a claim with its value, or an expression that decides', () => {
  const rules = 'jwt.0.claimValidationRules';
  refuse(rules, [{}], 'jwt[0].claimValidationRules[0]: Required value: claim or expression is required');
  refuse(rules, [{ claim: 'a', expression: 'true' }], "claim and expression can't both be set");
  refuse(rules, [{ claim: 'a', message: 'x' }], "message can't be set when claim is set");
  refuse(rules, [{ claim: 'a' }, { claim: 'a' }], 'jwt[0].claimValidationRules[1].claim: Duplicate value');
  refuse(
    rules,
    [{ expression: 'true', requiredValue: 'x' }],
    "requiredValue can't be set when expression is set",
  );
  refuse(rules, [{ expression: 'claims.a' }], 'must evaluate to bool');
  refuse(rules, [{ expression: 'true' }, { expression: 'true' }], 'Duplicate value: "true"');
  refuse('jwt.0.userValidationRules', [{ message: 'x' }], 'expression is required');
  refuse('jwt.0.userValidationRules', [{ expression: 'user.name == 1' }], 'compilation failed');
});

test('the unknown may come in by conditions only where the gate allows it', () => {
  const anonymous = { enabled: true, conditions: [{ path: '/livez' }] };
  expect(read({ ...GOOD, anonymous }).anonymous).toEqual({ enabled: true, paths: ['/livez'] });
  expect(() => read({ ...GOOD, anonymous }, { ...RULES, anonymousAllowed: false })).toThrow(
    'anonymous: Forbidden',
  );
  expect(() => read({ ...GOOD, anonymous: { ...anonymous, enabled: false } })).toThrow(
    'enabled should be set to true when conditions are defined',
  );
});

test('a user has the id of its token where it is wanted, and where the token has one', () => {
  const [config] = read(GOOD).jwt;
  if (config === undefined) throw new Error('no issuer');
  const extraOf = (jti: JsonValue | undefined, namesToken?: boolean) =>
    toUser(config, { sub: 'ann', ...(jti === undefined ? {} : { jti }) }, { namesToken: namesToken ?? true })
      .extra;
  expect(extraOf('0123')).toEqual({ 'authentication.kubernetes.io/credential-id': ['JTI=0123'] });
  for (const id of [undefined, '', 7]) expect(extraOf(id)).toEqual({});
  expect(extraOf('0123', false)).toEqual({});
});

test('user names of an issuer from flags begin with its URL, unless the claim is email or a prefix is given', () => {
  const flags = {
    ...{ issuerUrl: 'https://idp', clientId: 'us', certificateAuthority: undefined, algorithms: ['RS256'] },
    ...{ usernameClaim: 'sub', usernamePrefix: '', groupsClaim: 'roles', groupsPrefix: 'idp:' },
    requiredClaims: new Map<string, string>(),
  };
  const claims = { sub: 'ann', email: 'ann@example.com', email_verified: true, roles: ['a', 'b'] };
  const userOf = (given: Partial<typeof flags>, more: JsonObject = {}) =>
    toUser(fromOidcFlags({ ...flags, ...given }), { ...claims, ...more });
  expect(userOf({})).toMatchObject({ username: 'https://idp#ann', groups: ['idp:a', 'idp:b'] });
  expect(userOf({ usernameClaim: 'email' }).username).toBe('ann@example.com');
  expect(userOf({ usernamePrefix: '-' }).username).toBe('ann');
  expect(userOf({ usernamePrefix: 'x:' }).username).toBe('x:ann');
  expect(userOf({ usernamePrefix: 'x:', usernameClaim: 'email' }).username).toBe('x:ann@example.com');
  expect(userOf({}, { roles: 'c' }).groups).toEqual(['idp:c']);
  expect(userOf({ groupsClaim: '' }).groups).toEqual([]);
});
