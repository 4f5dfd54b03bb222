import { expect, test } from 'vitest';
import { WebhookClient } from '../../src/outbound/webhook-client.ts';
import { serveHttps } from '../kit/https-server.ts';
import { Authority, type LeafOptions } from '../kit/pki.ts';

/**
 * Servers whose certificate has the name of the authority that signed it, as Knative's webhooks have, and servers whose trusted
 * authority is not self-signed: envtest's webhooks are to be trusted by their own certificate.
 */

const HOUR_MS = 3_600_000;

interface Trial {
  readonly leaf?: Partial<LeafOptions>;
  /** Whose certificates the client trusts; absent: of the one that signed; `itself`: the certificate of the server alone. */
  readonly trusted?: Authority | 'itself';
  /** What signed the authority that signed; absent: itself. */
  readonly parent?: Authority;
  readonly serverName?: string;
}

async function answerOf({ leaf = {}, trusted, parent, serverName }: Trial): Promise<string> {
  const authority = await Authority.create('hook.shop.svc', parent === undefined ? {} : { parent });
  const pair = await authority.issue({ subject: 'CN=hook.shop.svc', serves: true, ...leaf });
  // Every request needs a connection of its own, which could resume the session of the one before.
  await using server = await serveHttps(pair, (_request, response) => {
    response.writeHead(200, { connection: 'close' }).end('hello');
  });
  const ca = trusted === 'itself' ? pair.cert : (trusted ?? authority).pem;
  const remote = {
    ...{ url: server.url, ca, serverName, insecureSkipVerify: false },
    ...{ certificate: undefined, key: undefined, authorization: undefined },
  };
  const client = new WebhookClient(() => remote);
  const options = { timeoutMs: 5000, signal: new AbortController().signal, maxAnswerBytes: 100 };
  try {
    const bodies: string[] = [];
    for (let times = 0; times < 3; times += 1)
      bodies.push((await client.post(Buffer.from('{}'), options)).body.toString());
    return bodies.join();
  } catch (error) {
    expect(server.count).toBe(0);
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    client.close();
  }
}

test('a server is trusted whose authority has its name', async () => {
  expect(await answerOf({})).toBe('hello,hello,hello');
});

const ownName = { subject: 'CN=hook' };

test('a server is trusted by its own certificate, and by an authority that another one signed', async () => {
  expect(await answerOf({ leaf: ownName, trusted: 'itself' })).toBe('hello,hello,hello');
  const parent = await Authority.create('root');
  expect(await answerOf({ leaf: ownName, parent })).toBe('hello,hello,hello');
});

const past = { notBefore: new Date(Date.now() - 2 * HOUR_MS), notAfter: new Date(Date.now() - HOUR_MS) };

test.each<[string, () => Promise<Trial> | Trial, string]>([
  [
    'another authority of that name signed it',
    async () => ({ trusted: await Authority.create('hook.shop.svc') }),
    'DEPTH_ZERO_SELF_SIGNED_CERT',
  ],
  ['it is another server', () => ({ serverName: 'elsewhere' }), 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['its time is over', () => ({ leaf: past }), 'CERT_HAS_EXPIRED'],
  ['it is a client', () => ({ leaf: { serves: false } }), 'INVALID_PURPOSE'],
  [
    'it has a name of its own and another authority signed it',
    async () => ({ leaf: ownName, trusted: await Authority.create('other') }),
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  ],
  [
    'it has a name of its own and is another server',
    () => ({ leaf: ownName, serverName: 'elsewhere' }),
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ],
  [
    'it is trusted by its own certificate and is another server',
    () => ({ leaf: ownName, trusted: 'itself', serverName: 'elsewhere' }),
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ],
  [
    'it is trusted by its own certificate, whose time is over',
    () => ({ leaf: { ...ownName, ...past }, trusted: 'itself' }),
    'CERT_HAS_EXPIRED',
  ],
  [
    'it is trusted by its own certificate and is a client',
    () => ({ leaf: { ...ownName, serves: false }, trusted: 'itself' }),
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  ],
])('no request is sent to a server when %s', async (_, trial, code) => {
  expect(await answerOf(await trial())).toBe(code);
});
