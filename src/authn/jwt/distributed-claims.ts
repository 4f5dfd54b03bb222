import type { JsonObject } from '../../api/object-meta.ts';
import { isObject } from '../../object/merge-patch.ts';
import type { HttpsGet } from '../../outbound/http-client.ts';
import { readUnverified } from '../jws.ts';

export interface DistributedClaimsOptions {
  /** The claim that may be distributed. */
  readonly claim: string;
  readonly get: HttpsGet;
  /** Verifies a token of any provider that the configuration's authorities vouch for. @throws Error */
  readonly verify: (issuer: string, token: string) => Promise<JsonObject>;
}

/**
 * Fetches a claim that the token does not contain but refers to (OpenID Connect Core 1.0, section 5.6.2):
 *
 *   "_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": "https://…", "access_token": "…"}}
 *
 * Returns the claims with that claim added. @throws Error
 */
export async function expandClaims(
  claims: JsonObject,
  { claim, get, verify }: DistributedClaimsOptions,
): Promise<JsonObject> {
  if (claims[claim] !== undefined || claims._claim_names === undefined) return claims;
  const names = claims._claim_names;
  if (!isObject(names)) throw new Error('oidc: error parsing distributed claim names');
  const sources = claims._claim_sources;
  if (!isObject(sources)) throw new Error('oidc: no claim sources');
  const source = names[claim];
  if (typeof source !== 'string') return claims;
  const place = sources[source];
  if (!isObject(place)) {
    throw new Error(`id token _claim_names contained a source ${source} missing in _claims_sources`);
  }
  const { endpoint, access_token: accessToken } = place;
  // Aggregated claims have no endpoint.
  if (typeof endpoint !== 'string' || endpoint === '') return claims;
  if (!endpoint.startsWith('https://')) throw new Error(`oidc: claim source ${endpoint} must use https`);
  const options = typeof accessToken === 'string' ? { authorization: `Bearer ${accessToken}` } : {};
  const token = (await get(endpoint, options)).trim();
  const issuer = readUnverified(token)?.issuer ?? '';
  const fetched = await verify(issuer, token);
  if (fetched[claim] === undefined) {
    throw new Error(
      `jwt returned by distributed claim endpoint ${JSON.stringify(endpoint)} did not contain claim: ${claim}`,
    );
  }
  return { ...claims, [claim]: fetched[claim] };
}
