import { randomUUID } from 'node:crypto';
import { CompactSign } from 'jose';
import type { JsonObject } from '../../api/object-meta.ts';
import type { TokenIssuing, TokenOrder, TokenSubject } from '../../registry/token-issuing.ts';
import type { VerificationKey } from '../jws.ts';
import type { SigningKey } from './key-ring.ts';
import { toUsername } from './signed-tokens.ts';

interface TokenIssuerOptions extends Omit<TokenIssuing, 'sign'> {
  readonly issuer: string;
  /** Signs claims, which are JSON. @throws Error */
  readonly signClaims: (claims: string) => Promise<string>;
  /** Feature gate ServiceAccountTokenJTI. */
  readonly numbersTokens: boolean;
}

/** Signs service account tokens with Kubernetes' claims (pkg/serviceaccount/claims.go). */
export class TokenIssuer implements TokenIssuing {
  readonly #options: TokenIssuerOptions;

  constructor(options: TokenIssuerOptions) {
    this.#options = options;
  }

  get apiAudiences(): readonly string[] {
    return this.#options.apiAudiences;
  }

  get maxExpirationSeconds(): number {
    return this.#options.maxExpirationSeconds;
  }

  get extendsExpiration(): boolean {
    return this.#options.extendsExpiration;
  }

  get bindsNodes(): boolean {
    return this.#options.bindsNodes;
  }

  get checksUids(): boolean {
    return this.#options.checksUids;
  }

  get tellsNodes(): boolean {
    return this.#options.tellsNodes;
  }

  get maxExtendedSeconds(): number {
    return this.#options.maxExtendedSeconds;
  }

  sign(order: TokenOrder): Promise<string> {
    const { issuer, numbersTokens, signClaims } = this.#options;
    const nowSeconds = Math.floor(order.issuedAt.getTime() / 1000);
    const claims = {
      aud: [...order.audiences],
      exp: nowSeconds + order.expirationSeconds,
      iat: nowSeconds,
      iss: issuer,
      ...(numbersTokens ? { jti: randomUUID() } : {}),
      'kubernetes.io': toPrivateClaims(order, nowSeconds),
      nbf: nowSeconds,
      sub: toUsername({ namespace: order.namespace, name: order.account.name }),
    };
    return signClaims(JSON.stringify(claims));
  }
}

export const signWith = (claims: string, { id, key, algorithm }: SigningKey): Promise<string> =>
  new CompactSign(Buffer.from(claims)).setProtectedHeader({ alg: algorithm, kid: id }).sign(key);

function toPrivateClaims(order: TokenOrder, nowSeconds: number): JsonObject {
  const { namespace, account, pod, secret, node, warnAfterSeconds } = order;
  return {
    namespace,
    ...(node === undefined ? {} : { node: toReference(node) }),
    ...(pod === undefined ? {} : { pod: toReference(pod) }),
    ...(secret === undefined ? {} : { secret: toReference(secret) }),
    serviceaccount: toReference(account),
    ...(warnAfterSeconds === undefined ? {} : { warnafter: nowSeconds + warnAfterSeconds }),
  };
}

const toReference = ({ name, uid }: TokenSubject): JsonObject => ({
  name,
  ...(uid === undefined ? {} : { uid }),
});

/** The documents by which others verify tokens of this cluster (OpenID Connect Discovery 1.0, section 3). */
export interface IssuerDocuments {
  readonly configuration: JsonObject;
  readonly keySet: JsonObject;
}

/** The fields of the documents beside the keys. `jwksUri` is --service-account-jwks-uri or this server's own. */
interface IssuerPlace {
  readonly issuer: string;
  readonly jwksUri: string;
}

export function createIssuerDocuments(
  { issuer, jwksUri }: IssuerPlace,
  keys: readonly VerificationKey[],
): IssuerDocuments {
  const algorithms = new Set(keys.flatMap((key) => key.algorithms));
  return {
    configuration: {
      issuer,
      jwks_uri: jwksUri,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [...algorithms].sort(),
    },
    keySet: { keys: keys.map(toJwk) },
  };
}

/** Whether the issuer is a URL that can have discovery documents. */
export function isDiscoverable(issuer: string): boolean {
  if (!URL.canParse(issuer)) return false;
  const { protocol, search, hash } = new URL(issuer);
  return protocol === 'https:' && search === '' && hash === '';
}

function toJwk({ id, key, algorithms: [algorithm = ''] }: VerificationKey): JsonObject {
  const { kty = '', ...rest } = key.export({ format: 'jwk' });
  return { use: 'sig', kty, kid: id, alg: algorithm, ...(rest as JsonObject) };
}
