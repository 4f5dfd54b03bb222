import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeProtectedHeader } from 'jose';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { ApiObject } from '../../src/api/object-meta.ts';
import type { VerificationKey } from '../../src/authn/jws.ts';
import type { LiveObjects } from '../../src/authn/live-objects.ts';
import { BoundTokens } from '../../src/authn/service-account/bound-tokens.ts';
import {
  createIssuerDocuments,
  isDiscoverable,
  signWith,
  TokenIssuer,
} from '../../src/authn/service-account/issuer.ts';
import { readSigningKey, readVerificationKeys } from '../../src/authn/service-account/key-ring.ts';
import { parseUsername, SignedTokens } from '../../src/authn/service-account/signed-tokens.ts';
import type { TokenOrder } from '../../src/registry/token-issuing.ts';

const folder = mkdtempSync(join(tmpdir(), 'keys-'));
afterAll(() => rmSync(folder, { recursive: true }));

const save = (name: string, ...keys: KeyObject[]): string => {
  const path = join(folder, name);
  const pems = keys.map((key) =>
    key.type === 'private'
      ? key.export({ type: 'pkcs8', format: 'pem' })
      : key.export({ type: 'spki', format: 'pem' }),
  );
  writeFileSync(path, pems.join(''));
  return path;
};
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-384' });

const live = new Map<string, ApiObject>();
const objects: LiveObjects = {
  find: async (resource, { namespace, name }) => live.get(`${resource}/${namespace}/${name}`),
};
const put = (resource: string, name: string, metadata: object = {}, namespace = 'ns'): void => {
  const object = { kind: 'X', apiVersion: 'v1', metadata: { name, uid: `${name}-1`, ...metadata } };
  live.set(`${resource}/${namespace}/${name}`, object);
};
let nowMs: number;

beforeEach(() => {
  nowMs = Date.parse('2026-01-01T00:00:00Z');
  live.clear();
  put('serviceaccounts', 'sa');
  put('pods', 'pod');
  put('nodes', 'node', {}, '');
});

const issuerOf = (path: string, issuer = 'https://one.example.com') =>
  new TokenIssuer({
    issuer,
    signClaims: (claims) => signWith(claims, readSigningKey(path)),
    maxExtendedSeconds: 0,
    apiAudiences: ['api'],
    maxExpirationSeconds: 0,
    extendsExpiration: true,
    numbersTokens: false,
    bindsNodes: true,
    checksUids: false,
    tellsNodes: true,
  });
const keyFile = save('rsa.pem', rsa.privateKey);
const verifier = (files: string[], acceptsNodes = true): BoundTokens => {
  const keys = files.flatMap(readVerificationKeys);
  return believing(() => keys, acceptsNodes);
};
const believing = (keys: () => readonly VerificationKey[], acceptsNodes = true): BoundTokens =>
  new BoundTokens({
    tokens: new SignedTokens({
      issuers: ['https://one.example.com', 'https://two.example.com'],
      keys,
      apiAudiences: ['api'],
    }),
    objects,
    acceptsNodes,
    now: () => nowMs,
  });
const order = (more: Partial<TokenOrder> = {}): TokenOrder => ({
  namespace: 'ns',
  account: { name: 'sa', uid: 'sa-1' },
  audiences: ['api'],
  expirationSeconds: 600,
  issuedAt: new Date(nowMs),
  ...more,
});
const check = async (token: string, bound = verifier([keyFile])): Promise<string> =>
  bound.authenticate(token, ['api']).then(
    (found) => found?.user.username ?? 'unknown',
    (error: Error) => error.message,
  );

test('keys of several files and kinds verify, each by its own id', async () => {
  const both = save('both.pem', rsa.publicKey, ec.privateKey);
  const byEc = await issuerOf(save('ec.pem', ec.privateKey), 'https://two.example.com').sign(order());
  const byRsa = await issuerOf(keyFile).sign(order());
  expect(decodeProtectedHeader(byEc).alg).toBe('ES384');
  const ids = readVerificationKeys(both).map(({ id }) => id);
  expect([decodeProtectedHeader(byRsa).kid, decodeProtectedHeader(byEc).kid]).toEqual(ids);
  expect(await check(byEc, verifier([both]))).toBe('system:serviceaccount:ns:sa');
  expect(await check(byRsa, verifier([both]))).toBe('system:serviceaccount:ns:sa');
  expect(await check(byEc)).toBe('invalid signature, no keys found');
  expect(await check(await issuerOf(keyFile, 'https://three.example.com').sign(order()))).toBe('unknown');
});

test('files without usable keys are named', () => {
  const path = join(folder, 'empty.pem');
  writeFileSync(path, 'nothing');
  expect(() => readVerificationKeys(path)).toThrow(`${path} holds no RSA or ECDSA key`);
  expect(() => readSigningKey(save('public.pem', rsa.publicKey))).toThrow('holds no private key');
  const edwards = save('ed.pem', generateKeyPairSync('ed25519').privateKey);
  expect(() => readSigningKey(edwards)).toThrow('must be RSA, or ECDSA');
});

test('a token ends in its second; its beginning may be a minute ahead', async () => {
  const token = await issuerOf(keyFile).sign(order());
  const bound = verifier([keyFile]);
  nowMs += 599_999;
  expect(await check(token, bound)).toBe('system:serviceaccount:ns:sa');
  nowMs += 1;
  expect(await check(token, bound)).toBe('service account token has expired');
  nowMs -= 600_000 + 60_000;
  expect(await check(token, bound)).toBe('system:serviceaccount:ns:sa');
  nowMs -= 1000;
  expect(await check(token, bound)).toBe('service account token is not valid yet');
});

test('a deleted object counts for a minute more, one that was created again does not count', async () => {
  const pod = { name: 'pod', uid: 'pod-1' };
  const token = await issuerOf(keyFile).sign(order({ pod, node: { name: 'node', uid: 'node-1' } }));
  put('pods', 'pod', { deletionTimestamp: '2026-01-01T00:00:00Z' });
  expect(await check(token)).toBe('system:serviceaccount:ns:sa');
  nowMs += 61_000;
  expect(await check(token)).toBe('service account token has been invalidated');
  put('pods', 'pod', { uid: 'pod-2' });
  expect(await check(token)).toBe('Pod UID (pod-2) does not match service account pod ref claim (pod-1)');
  put('pods', 'pod');
  live.delete('nodes//node');
  expect(await check(token)).toBe('system:serviceaccount:ns:sa');
  put('serviceaccounts', 'sa', { uid: 'sa-2' });
  expect(await check(token)).toBe('service account UID (sa-2) does not match claim (sa-1)');
});

test('a token of a node alone ends with the node, where such tokens are accepted', async () => {
  const token = await issuerOf(keyFile).sign(order({ node: { name: 'node', uid: 'node-1' } }));
  const found = await verifier([keyFile]).authenticate(token, ['api']);
  expect(found?.user.extra).toMatchObject({ 'authentication.kubernetes.io/node-uid': ['node-1'] });
  expect(await check(token, verifier([keyFile], false))).toContain('feature gate is disabled');
  live.delete('nodes//node');
  expect(await check(token)).toBe('service account token has been invalidated');
});

test('a token that is used after its warning is noted in the audit log', async () => {
  const token = await issuerOf(keyFile).sign(order({ warnAfterSeconds: 60 }));
  nowMs += 65_000;
  const found = await verifier([keyFile]).authenticate(token, ['api']);
  expect(found?.annotations).toEqual({
    'authentication.k8s.io/stale-token':
      'subject: system:serviceaccount:ns:sa, seconds after warning threshold: 5',
  });
});

test('a token is believed as long as its key is, remembered or not, and one of a new key at once', async () => {
  const newer = save('newer.pem', ec.privateKey);
  const [older, younger] = [readVerificationKeys(keyFile), readVerificationKeys(newer)];
  let keys = older;
  const tokens = believing(() => keys);
  const [old, young] = [await issuerOf(keyFile).sign(order()), await issuerOf(newer).sign(order())];
  const isIn = async (token: string): Promise<boolean> =>
    tokens.authenticate(token, ['api']).then(
      (found) => found !== undefined,
      () => false,
    );
  expect([await isIn(old), await isIn(young)]).toEqual([true, false]);
  keys = [...younger, ...older];
  expect([await isIn(old), await isIn(young)]).toEqual([true, true]);
  keys = younger;
  expect([await isIn(old), await isIn(young)]).toEqual([false, true]);
});

test('only an issuer that is an https address is discoverable', () => {
  const keys = readVerificationKeys(save('all.pem', rsa.publicKey, ec.publicKey));
  for (const issuer of ['mine', 'http://mine', 'https://mine?x']) expect(isDiscoverable(issuer)).toBe(false);
  expect(isDiscoverable('https://mine')).toBe(true);
  const documents = createIssuerDocuments({ issuer: 'https://mine', jwksUri: 'https://x/jwks' }, keys);
  expect(documents.configuration.id_token_signing_alg_values_supported).toEqual(['ES384', 'RS256']);
  const { keys: published = [] } = documents.keySet;
  expect(JSON.stringify(published)).not.toContain('"d"');
  expect(published).toMatchObject([
    { use: 'sig', kty: 'RSA', alg: 'RS256' },
    { use: 'sig', kty: 'EC', crv: 'P-384', alg: 'ES384' },
  ]);
});

test('only names that accounts can have are accounts', () => {
  expect(parseUsername('system:serviceaccount:ns:a.b')).toEqual({ namespace: 'ns', name: 'a.b' });
  for (const name of [
    'system:serviceaccount:ns:',
    'system:serviceaccount::a',
    'system:serviceaccount:a:b:c',
    'bob',
  ]) {
    expect(parseUsername(name)).toBe(undefined);
  }
});
