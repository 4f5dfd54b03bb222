import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CompactSign } from 'jose';
import { serveHttps, type TestServer } from './https-server.ts';
import type { Pair } from './pki.ts';

/** An OpenID Connect provider: discovery, keys that change, ID tokens, and a place for distributed claims. */
export class TestIdentityProvider implements AsyncDisposable {
  #server: TestServer | undefined;
  #keys: { id: string; algorithm: string; privateKey: KeyObject; publicKey: KeyObject }[] = [];
  /** Answers instead of the provider, when it is to misbehave. */
  misbehave: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** What the endpoint of distributed claims answers. */
  distributed = '';
  keyRequests = 0;

  static async start(pair: Pair): Promise<TestIdentityProvider> {
    const provider = new TestIdentityProvider();
    provider.rotate();
    provider.#server = await serveHttps(pair, (request, response) => provider.#answer(request, response));
    return provider;
  }

  get url(): string {
    return this.#server?.url ?? '';
  }

  /** A new key; the old ones are gone. */
  rotate(algorithm: 'RS256' | 'ES256' = 'RS256'): void {
    const { privateKey, publicKey } =
      algorithm === 'RS256'
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#keys = [{ id: randomUUID(), algorithm, privateKey, publicKey }];
  }

  /** Valid for an hour unless the claims say otherwise. */
  token(claims: object, header: object = {}): Promise<string> {
    const [key] = this.#keys;
    if (key === undefined) throw new Error('no key');
    const nowSeconds = Math.floor(Date.now() / 1000);
    const all = { iss: this.url, iat: nowSeconds, exp: nowSeconds + 3600, ...claims };
    return new CompactSign(Buffer.from(JSON.stringify(all)))
      .setProtectedHeader({ alg: key.algorithm, kid: key.id, ...header })
      .sign(key.privateKey);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    if (this.misbehave?.(request, response) === true) return;
    const send = (body: unknown): void => {
      response.setHeader('content-type', 'application/json');
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    };
    switch (request.url) {
      case '/.well-known/openid-configuration':
      case '/elsewhere':
        send({ issuer: this.url, jwks_uri: `${this.url}/keys` });
        return;
      case '/keys':
        this.keyRequests += 1;
        send({
          keys: this.#keys.map(({ id, publicKey, algorithm }) => ({
            ...publicKey.export({ format: 'jwk' }),
            kid: id,
            alg: algorithm,
            use: 'sig',
          })),
        });
        return;
      case '/claims':
        send(this.distributed);
        return;
      default:
        response.statusCode = 404;
        response.end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }
}
