import type { JsonObject } from '../api/object-meta.ts';
import { methodNotAllowed } from '../api/status.ts';
import type { AuthorizedRequest } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import type { DocumentHandler } from './discovery.ts';

/** How long readers may keep the documents: keys are published this long before they are used. */
const MAX_AGE_SECONDS = 3600;

/**
 * Where those who were given a service account token learn how to verify it. Undefined documents: the issuer has no such
 * place.
 */
export function createIssuerHandler(
  documents: { readonly configuration: JsonObject; readonly keySet: JsonObject } | undefined,
): DocumentHandler {
  if (documents === undefined) return () => undefined;
  const answers = new Map([
    ['/.well-known/openid-configuration', toResponse(documents.configuration, 'application/json')],
    ['/openid/v1/jwks', toResponse(documents.keySet, 'application/jwk-set+json')],
  ]);
  return ({ path, method }: AuthorizedRequest) => {
    const answer = answers.get(path);
    if (answer !== undefined && method !== 'GET' && method !== 'HEAD') throw methodNotAllowed();
    return answer;
  };
}

function toResponse(document: JsonObject, contentType: string): ApiResponse {
  return {
    kind: 'bytes',
    code: 200,
    contentType,
    headers: { 'cache-control': `public, max-age=${MAX_AGE_SECONDS}` },
    chunks: [Buffer.from(JSON.stringify(document))],
    compressible: false,
  };
}
