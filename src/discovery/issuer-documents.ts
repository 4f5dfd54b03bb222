import { Hono } from 'hono';
import type { JsonObject } from '../api/object-meta.ts';
import { methodNotAllowed } from '../api/status.ts';

/** How long readers may keep the documents. Whoever meets a key that is not among them looks again (RFC 7517, section 4.5). */
const MAX_AGE_SECONDS = 3600;

/**
 * Where those who were given a service account token learn how to verify it, with the keys of the moment. Undefined documents:
 * the issuer has no such place.
 */
export function createIssuerPages(
  documents: (() => { readonly configuration: JsonObject; readonly keySet: JsonObject }) | undefined,
): Hono {
  const pages = new Hono();
  const add = (path: string, document: () => JsonObject, contentType: string): void => {
    pages.get(path, () => toResponse(document(), contentType));
    pages.all(path, () => {
      throw methodNotAllowed();
    });
  };
  if (documents === undefined) return pages;
  add('/.well-known/openid-configuration', () => documents().configuration, 'application/json');
  add('/openid/v1/jwks', () => documents().keySet, 'application/jwk-set+json');
  return pages;
}

const toResponse = (document: JsonObject, contentType: string): Response =>
  Response.json(document, {
    headers: { 'content-type': contentType, 'cache-control': `public, max-age=${MAX_AGE_SECONDS}` },
  });
