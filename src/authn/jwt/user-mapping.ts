import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { UserInfo } from '../../request/api-request.ts';
import { errorText } from '../../util/error-text.ts';
import type { ClaimMapping, JwtConfig, Rule } from './jwt-config.ts';

/** Says which token a user came with. */
const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';

/**
 * Makes a user from claims, and checks both by the rules. `namesToken`: whether the user has the id of the token.
 * @throws Error about the token
 */
export function toUser(
  config: JwtConfig,
  claims: JsonObject,
  { namesToken = false }: { readonly namesToken?: boolean } = {},
): UserInfo {
  const { jti } = claims;
  const id = namesToken && typeof jti === 'string' && jti !== '' ? { [CREDENTIAL_ID]: [`JTI=${jti}`] } : {};
  const user = {
    username: usernameOf(config.username, claims),
    uid: config.uid === undefined ? '' : uidOf(config.uid, claims),
    groups: config.groups === undefined ? [] : groupsOf(config.groups, claims),
    extra: { ...id, ...extraOf(config.extra, claims) },
  };
  checkRequired(config.requiredClaims, claims);
  for (const rule of config.claimRules) check(rule, { claims }, 'claim validation expression');
  for (const rule of config.userRules) check(rule, { user }, 'user info validation rule');
  return user;
}

function usernameOf(mapping: ClaimMapping, claims: JsonObject): string {
  if (mapping.kind === 'expression') {
    const name = evaluate(mapping, claims, 'username claim expression');
    if (typeof name !== 'string') {
      throw new Error(
        'oidc: error evaluating username claim expression: username claim expression must return a string',
      );
    }
    if (name === '') throw new Error('oidc: empty username via CEL expression is not allowed');
    return name;
  }
  const { claim, prefix } = mapping;
  const name = claims[claim];
  if (typeof name !== 'string') throw new Error(`oidc: parse username claims ${JSON.stringify(claim)}`);
  if (claim === 'email' && claims.email_verified !== undefined && claims.email_verified !== true)
    throw new Error('oidc: email not verified');
  return prefix + name;
}

function uidOf(mapping: ClaimMapping, claims: JsonObject): string {
  const uid =
    mapping.kind === 'claim' ? claims[mapping.claim] : evaluate(mapping, claims, 'uid claim expression');
  if (typeof uid === 'string') return uid;
  throw new Error('oidc: error evaluating uid claim: it must be a string');
}

function groupsOf(mapping: ClaimMapping, claims: JsonObject): string[] {
  if (mapping.kind === 'expression') {
    return toTexts(evaluate(mapping, claims, 'group claim expression'), 'group claim expression');
  }
  const { claim, prefix } = mapping;
  const groups = claims[claim];
  if (groups === undefined) return [];
  const list: unknown[] = Array.isArray(groups) ? groups : [groups];
  return list.map((group) => {
    if (typeof group !== 'string') throw new Error(`oidc: parse groups claim ${JSON.stringify(claim)}`);
    return prefix + group;
  });
}

function extraOf(mappings: JwtConfig['extra'], claims: JsonObject): Record<string, string[]> {
  const extra = mappings.map(({ key, program }) => {
    const value = evaluate({ kind: 'expression', program }, claims, 'extra claim expression');
    return [key, toTexts(value, 'extra claim expression')] as const;
  });
  return Object.fromEntries(extra.filter(([, values]) => values.length > 0));
}

/** A text, a list of texts, or nothing. */
function toTexts(value: unknown, what: string): string[] {
  if (value === null || value === undefined || value === '') return [];
  if (typeof value === 'string') return [value];
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) {
    return value.filter((one) => one !== '');
  }
  throw new Error(`oidc: error evaluating ${what}: expression must return a string or a list of strings`);
}

function evaluate(
  { program }: Extract<ClaimMapping, { kind: 'expression' }>,
  claims: JsonObject,
  what: string,
): unknown {
  return attempt(what, () => program.evaluate({ claims }));
}

function attempt<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    const why = errorText(error);
    throw new Error(`oidc: error evaluating ${what}: ${why}`, { cause: error });
  }
}

function checkRequired(required: ReadonlyMap<string, string>, claims: JsonObject): void {
  for (const [claim, wanted] of required) {
    const value = claims[claim];
    if (value === undefined) throw new Error(`oidc: required claim ${claim} not present in ID token`);
    if (value !== wanted) throw new Error(`oidc: required claim ${claim} value does not match`);
  }
}

function check(
  { program, message }: Rule,
  variables: Readonly<Record<string, JsonValue>>,
  what: string,
): void {
  if (attempt(what, () => program.evaluate(variables)) === true) return;
  const why = message === '' ? '' : `: ${message}`;
  throw new Error(
    `oidc: error evaluating ${what}: validation expression '${program.expression}' failed${why}`,
  );
}
