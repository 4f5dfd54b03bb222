import type { OidcFlags } from '../authn/jwt/authentication-config.ts';
import type { CommandLine } from './command-line.ts';
import { list, text, UsageError } from './flag.ts';

export const oidcFlags = {
  issuerUrl: text('oidc-issuer-url', {
    default: '',
    meaning: 'issuer URL; HTTPS only; used to verify ID tokens (JWT)',
    check: issuer,
  }),
  clientId: text('oidc-client-id', { default: '', meaning: 'client id; required when the issuer is set' }),
  caFile: text('oidc-ca-file', {
    default: '',
    meaning: "authorities for the issuer's certificate; otherwise the host's root set",
  }),
  usernameClaim: text('oidc-username-claim', {
    default: 'sub',
    meaning: 'claim used as user name; other claims are not guaranteed unique',
  }),
  usernamePrefix: text('oidc-username-prefix', {
    default: '',
    meaning:
      'prefix for user names; claims other than email get the issuer URL by default; value - means no prefix',
  }),
  groupsClaim: text('oidc-groups-claim', {
    default: '',
    meaning: 'claim holding groups (string or array of strings)',
  }),
  groupsPrefix: text('oidc-groups-prefix', { default: '', meaning: 'prefix for groups' }),
  requiredClaims: list('oidc-required-claim', {
    default: [],
    meaning: 'key=value pair that must be in the ID token; repeatable',
    check: pairs,
  }),
  algorithms: list('oidc-signing-algs', {
    default: ['RS256'],
    meaning:
      'allowed algorithms; supported RS256 / RS384 / RS512 / ES256 / ES384 / ES512 / PS256 / PS384 / PS512',
    check: algorithms,
  }),
};

/** A provider of tokens that flags describe. */
export interface OidcOptions extends Omit<OidcFlags, 'certificateAuthority'> {
  /** '' for the host's authorities. */
  readonly caFile: string;
}

const ALGORITHMS = /^(RS|ES|PS)(256|384|512)$/;

/** Undefined when none of the flags is given. @throws UsageError */
export function readOidc(line: CommandLine): OidcOptions | undefined {
  if (line.firstGiven(Object.values(oidcFlags)) === undefined) return undefined;
  const { issuerUrl, clientId } = oidcFlags;
  const apart = new UsageError(
    `${issuerUrl.shown} and ${clientId.shown} must be given together when any of the oidc-* flags is`,
  );
  if (!line.isGiven(issuerUrl) || !line.isGiven(clientId)) throw apart;
  const options = line.valuesOf(oidcFlags);
  if (options.issuerUrl === '' || options.clientId === '') throw apart;
  return Object.freeze(options);
}

function issuer(url: string, flag: string): string {
  if (url === '') return url;
  const right = URL.canParse(url) ? new URL(url) : undefined;
  const plain = right?.username === '' && right.password === '' && right.search === '' && right.hash === '';
  if (right?.protocol === 'https:' && plain) return url;
  throw new UsageError(
    `${flag}: ${JSON.stringify(url)} must be an https URL without user, query and fragment`,
  );
}

function algorithms(names: readonly string[], flag: string): readonly string[] {
  const unsupported = names.find((name) => !ALGORITHMS.test(name));
  if (unsupported !== undefined)
    throw new UsageError(`${flag}: ${JSON.stringify(unsupported)} is not supported`);
  return names.length === 0 ? ['RS256'] : names;
}

/** Joins list items: a value may contain commas, so an item without `=` continues the previous pair. */
function pairs(items: readonly string[], flag: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let last: string | undefined;
  for (const item of items) {
    const at = item.indexOf('=');
    if (at > 0) {
      last = item.slice(0, at);
      found.set(last, item.slice(at + 1));
    } else if (last !== undefined) found.set(last, `${found.get(last)},${item}`);
    else throw new UsageError(`${flag}: ${JSON.stringify(item)} is not of the form key=value`);
  }
  return found;
}
