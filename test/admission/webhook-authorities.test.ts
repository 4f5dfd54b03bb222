import { afterAll, beforeAll, expect, test } from 'vitest';
import { toWebhooks } from '../../src/admission/webhooks/webhook.ts';
import { WebhookClient } from '../../src/outbound/webhook-client.ts';
import { serveHttps, type TestServer } from '../kit/https-server.ts';
import { Authority } from '../kit/pki.ts';

let authority: Authority;
let server: TestServer;

beforeAll(async () => {
  authority = await Authority.create('hooks');
  server = await serveHttps(await authority.issue({ subject: 'CN=hook', serves: true }), (_, response) =>
    response.end('{}'),
  );
});

afterAll(() => server[Symbol.asyncDispose]());

/** The authorities that a webhook's client trusts; '' for those of the host. */
function authoritiesOf(caBundle: string): string | undefined {
  const client = { url: server.url, caBundle: Buffer.from(caBundle).toString('base64') };
  const [webhook] = toWebhooks([
    {
      kind: 'ValidatingWebhookConfiguration',
      apiVersion: 'admissionregistration.k8s.io/v1',
      metadata: { name: 'c' },
      webhooks: [{ name: 'w.example.com', clientConfig: client }],
    },
  ]);
  return webhook?.client.ca;
}

/** What becomes of a call to a webhook with these authorities. */
async function call(caBundle: string): Promise<string> {
  const caller = new WebhookClient(() => ({
    url: server.url,
    ca: authoritiesOf(caBundle),
    serverName: undefined,
    insecureSkipVerify: false,
    certificate: undefined,
    key: undefined,
    authorization: undefined,
  }));
  try {
    const options = { signal: AbortSignal.timeout(5000), timeoutMs: 5000, maxAnswerBytes: 100 };
    return String((await caller.post(Buffer.from('{}'), options)).code);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    caller.close();
  }
}

const UNKNOWN = /^unable to verify the first certificate|cannot be verified: CERT_SIGNATURE_FAILURE$/;

test('the certificates of a bundle are trusted, with any text around them', async () => {
  const other = await Authority.create('others');
  expect(await call(`subject: us\n${other.pem}\nin between\n${authority.pem}after`)).toBe('200');
});

test('without a bundle it is whom the host trusts', () => {
  expect(authoritiesOf('')).toBe('');
});

test.each([
  ['another authority', async () => (await Authority.create('hooks')).pem],
  ['no certificate at all', async () => 'nonsense'],
  [
    'a certificate that only OpenSSL takes for one',
    async () => authority.pem.replaceAll('CERTIFICATE', 'X509 CERTIFICATE'),
  ],
  ['a certificate with headers', async () => authority.pem.replace('-\n', '-\nA: b\n\n')],
])('a bundle of %s makes no server trusted', async (_, bundle) => {
  const text = await bundle();
  expect(authoritiesOf(text)).not.toBe('');
  expect(await call(text)).toMatch(UNKNOWN);
});
