import type { JsonObject } from '../../api/object-meta.ts';
import type { VerificationKey } from '../jws.ts';

/** What others need to verify tokens of this cluster (OpenID Connect Discovery 1.0, section 3). */
export interface IssuerDocuments {
  readonly configuration: JsonObject;
  readonly keySet: JsonObject;
}

/**
 * Undefined when the issuer is no address where discovery could be: then there is none.
 * `jwksUri` is --service-account-jwks-uri or this server's own.
 */
export function createIssuerDocuments(
  issuer: string,
  jwksUri: string,
  keys: readonly VerificationKey[],
): IssuerDocuments | undefined {
  if (!isDiscoverable(issuer)) return undefined;
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

function isDiscoverable(issuer: string): boolean {
  if (!URL.canParse(issuer)) return false;
  const { protocol, search, hash } = new URL(issuer);
  return protocol === 'https:' && search === '' && hash === '';
}

function toJwk({ id, key, algorithms: [algorithm = ''] }: VerificationKey): JsonObject {
  const { kty = '', ...rest } = key.export({ format: 'jwk' });
  return { use: 'sig', kty, kid: id, alg: algorithm, ...(rest as JsonObject) };
}
