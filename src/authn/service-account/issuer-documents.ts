import type { JsonObject } from '../../api/object-meta.ts';
import type { VerificationKey } from '../jws.ts';

/** The documents by which others verify tokens of this cluster (OpenID Connect Discovery 1.0, section 3). */
export interface IssuerDocuments {
  readonly configuration: JsonObject;
  readonly keySet: JsonObject;
}

/** The fields of the documents beside the keys. `jwksUri` is --service-account-jwks-uri or this server's own. */
export interface IssuerPlace {
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
