import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ExternalSigner } from '../../src/authn/service-account/external-signer.ts';
import { signWith } from '../../src/authn/service-account/issuer.ts';
import { SignedTokens } from '../../src/authn/service-account/signed-tokens.ts';
import { SignerMetrics } from '../../src/authn/service-account/signer-metrics.ts';
import { newSignerKey, TokenSigner } from '../kit/token-signer.ts';

const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-signer-'));
let sockets = 0;
const ISSUER = 'https://cluster.example.com';
const CLAIMS = JSON.stringify({ iss: ISSUER, sub: 'ann', aud: ['api'] });

async function connect(version: 'v1' | 'v1alpha1' = 'v1') {
  sockets += 1;
  const socket = join(folder, `${sockets}.sock`);
  const program = await TokenSigner.start(socket, version);
  const metrics = new SignerMetrics();
  const open = (): Promise<ExternalSigner> =>
    ExternalSigner.open({ ...{ socket, version, metrics }, onError: () => {} });
  return { program, open, metrics };
}

const believing = (signer: ExternalSigner): SignedTokens =>
  new SignedTokens({
    ...{ issuers: [ISSUER], apiAudiences: ['api'] },
    keys: () => signer.keys,
    fetchKeys: () => signer.fetch(),
  });

test.each(['v1', 'v1alpha1'] as const)(
  'a signer of %s signs, and its tokens are believed',
  async (version) => {
    const { program, open } = await connect(version);
    await using _ = program;
    const signer = await open();
    expect(signer.maxExpirationSeconds).toBe(7200);
    const token = await signer.sign(CLAIMS);
    const read = await believing(signer).read(token, ['api']);
    expect(read?.claims).toMatchObject({ sub: 'ann' });
  },
);

test('metrics tell calls, fetches and signatures under the names of Kubernetes', async () => {
  const { program, open, metrics } = await connect();
  await using _ = program;
  const signer = await open();
  await signer.sign(CLAIMS);
  program.header = { alg: 'none' };
  await expect(signer.sign(CLAIMS)).rejects.toThrow();
  program.keys.length = 0;
  await expect(signer.fetch()).rejects.toThrow();
  const samples = metrics.instruments.flatMap((one) => one.collect().samples);
  const shown = samples.map(
    ({ name, labels, value }) => `${name} ${Object.values(labels).join(' ')} ${value}`,
  );
  const prefix = 'apiserver_externaljwt';
  expect(shown).toEqual(
    expect.arrayContaining([
      `${prefix}_fetch_keys_data_timestamp  1`,
      `${prefix}_fetch_keys_request_total OK 1`,
      `${prefix}_fetch_keys_request_total unknown-non-grpc 1`,
      `${prefix}_sign_request_total OK 1`,
      `${prefix}_sign_request_total unknown-non-grpc 1`,
      `${prefix}_request_duration_seconds_count /v1.ExternalJWTSigner/Sign OK 2`,
    ]),
  );
});

test('a start waits for a signer that listens later, also at a name without a file', async () => {
  const name = `pg-apiserver-signer-${process.pid}`;
  const opening = ExternalSigner.open({
    ...{ socket: `@${name}`, version: 'v1', onError: () => {}, metrics: new SignerMetrics() },
  });
  const before = await Promise.race([
    opening,
    new Promise((resolve) => setImmediate(() => resolve('waits'))),
  ]);
  expect(before).toBe('waits');
  await using _ = await TokenSigner.start(`\0${name}`);
  expect((await opening).keys).toHaveLength(1);
});

test('a token with an unknown key has the keys fetched, once for those who ask at the same time', async () => {
  const { program, open } = await connect();
  await using _ = program;
  const signer = await open();
  const tokens = believing(signer);
  const key = newSignerKey('two');
  program.keys.push(key);
  const token = await signWith(CLAIMS, { id: 'two', key: key.privateKey, algorithm: 'ES256' });
  program.calls.length = 0;
  const [one, other] = await Promise.all([tokens.read(token, ['api']), tokens.read(token, ['api'])]);
  expect([one?.claims.sub, other?.claims.sub]).toEqual(['ann', 'ann']);
  expect(program.calls).toEqual(['FetchKeys']);
  const stranger = newSignerKey('three');
  const forged = await signWith(CLAIMS, { id: 'three', key: stranger.privateKey, algorithm: 'ES256' });
  await expect(tokens.read(forged, ['api'])).rejects.toThrow('no keys found');
});

test('a key that is excluded from discovery verifies, is not published, and must not sign', async () => {
  const { program, open } = await connect();
  await using _ = program;
  const old = newSignerKey('old');
  old.hidden = true;
  program.keys.unshift(old);
  const signer = await open();
  expect(signer.published.map(({ id }) => id)).toEqual(['one']);
  const token = await signWith(CLAIMS, { id: 'old', key: old.privateKey, algorithm: 'ES256' });
  expect((await believing(signer).read(token, ['api']))?.claims.sub).toBe('ann');
  program.keys.push(old);
  await expect(signer.sign(CLAIMS)).rejects.toThrow('is excluded from OIDC discovery docs');
});

test.each<[header: Record<string, unknown>, why: string]>([
  [{ typ: 'JOSE' }, 'while validating header: bad type'],
  [{ kid: '' }, 'while validating header: key id missing'],
  [{ kid: 'x'.repeat(1025) }, 'while validating header: key id longer than 1 kb'],
  [{ alg: 'none' }, 'while validating header: bad signing algorithm "none"'],
  [{ crit: ['exp'] }, 'while validating header: while parsing header JSON: json: unknown field "crit"'],
])('a header with %j is refused', async (header, why) => {
  const { program, open } = await connect();
  await using _ = program;
  const signer = await open();
  program.header = header;
  await expect(signer.sign(CLAIMS)).rejects.toThrow(why);
});

test('a start needs a signer that answers, with keys and lives of ten minutes at least', async () => {
  const { program, open } = await connect();
  program.maxExpirationSeconds = 599;
  await expect(open()).rejects.toThrow('max token life supported by external-jwt-signer (599s)');
  program.maxExpirationSeconds = 600;
  program.refreshSeconds = 0;
  await expect(open()).rejects.toThrow('found invalid refresh hint (0s)');
  program.refreshSeconds = 60;
  program.keys.length = 0;
  await expect(open()).rejects.toThrow('found no keys');
  await program[Symbol.asyncDispose]();
});
