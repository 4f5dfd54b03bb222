import type { KeyObject } from 'node:crypto';
import { compactVerify } from 'jose';
import type { JsonObject } from '../api/object-meta.ts';
import { isObject, textOf } from '../object/json-values.ts';

/** A public key and its algorithms. `id` is '' for a key without an id. */
export interface VerificationKey {
  readonly id: string;
  readonly key: KeyObject;
  readonly algorithms: readonly string[];
}

/** The claims of an unverified token. To be used only to choose its verifier. */
interface UnverifiedToken {
  readonly issuer: string;
  readonly keyId: string;
}

/** Undefined for a text that is no JWS in compact form with an object inside (RFC 7515, section 3.1). */
export function readUnverified(token: string): UnverifiedToken | undefined {
  // Splits into at most four parts: a token of dots alone would have a million.
  const parts = token.split('.', 4);
  if (parts.length !== 3) return undefined;
  const header = parsePart(parts[0]);
  const payload = parsePart(parts[1]);
  if (header === undefined || payload === undefined) return undefined;
  return { issuer: textOf(payload.iss), keyId: textOf(header.kid) };
}

function parsePart(part: string | undefined): JsonObject | undefined {
  if (part === undefined || !/^[\w-]+$/.test(part)) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The claims of a token that one of the keys signed. The algorithm must be one of the key's, so that a token cannot choose `none`
 * or use a public key as a shared secret (RFC 8725, section 3.1).
 * @throws Error
 */
export async function verifyToken(token: string, keys: readonly VerificationKey[]): Promise<JsonObject> {
  for (const { key, algorithms } of keys) {
    try {
      const { payload } = await compactVerify(token, key, { algorithms: [...algorithms] });
      const claims: unknown = JSON.parse(new TextDecoder().decode(payload));
      if (isObject(claims)) return claims;
    } catch {
      // The next key may fit.
    }
  }
  throw new Error('invalid signature');
}

/** RFC 7519, section 4.1.3: one text or a list. */
export function audiencesOf({ aud }: JsonObject): string[] {
  if (typeof aud === 'string') return [aud];
  return Array.isArray(aud) ? aud.filter((one) => typeof one === 'string') : [];
}
