import type { OidcFlags } from '../authn/jwt/authentication-config.ts';
import { UsageError } from './flag.ts';
import type { FlagValues } from './parse.ts';

/** The --oidc flags. */
export interface OidcOptions extends Omit<OidcFlags, 'certificateAuthority'> {
  /** '' for the host's authorities. */
  readonly caFile: string;
}

const ALGORITHMS = /^(RS|ES|PS)(256|384|512)$/;

/** Undefined when none of the flags is given. @throws UsageError */
export function readOidc(flags: FlagValues): OidcOptions | undefined {
  if (flags.given('oidc-') === undefined) return undefined;
  const issuerUrl = flags.string('oidc-issuer-url');
  const clientId = flags.string('oidc-client-id');
  if (issuerUrl === '' || clientId === '') {
    throw new UsageError(
      '--oidc-issuer-url and --oidc-client-id must be given together when any of the oidc-* flags is',
    );
  }
  checkIssuer(issuerUrl);
  const algorithms = flags.strings('oidc-signing-algs');
  const unsupported = algorithms.find((algorithm) => !ALGORITHMS.test(algorithm));
  if (unsupported !== undefined)
    throw new UsageError(`--oidc-signing-algs: ${JSON.stringify(unsupported)} is not supported`);
  return {
    issuerUrl,
    clientId,
    caFile: flags.string('oidc-ca-file'),
    usernameClaim: flags.string('oidc-username-claim'),
    usernamePrefix: flags.string('oidc-username-prefix'),
    groupsClaim: flags.string('oidc-groups-claim'),
    groupsPrefix: flags.string('oidc-groups-prefix'),
    requiredClaims: readPairs(flags.strings('oidc-required-claim')),
    algorithms: algorithms.length === 0 ? ['RS256'] : algorithms,
  };
}

function checkIssuer(issuer: string): void {
  const right = URL.canParse(issuer) ? new URL(issuer) : undefined;
  const plain = right?.username === '' && right.password === '' && right.search === '' && right.hash === '';
  if (right?.protocol === 'https:' && plain) return;
  throw new UsageError(
    `--oidc-issuer-url: ${JSON.stringify(issuer)} must be an https URL without user, query and fragment`,
  );
}

/** A value may hold commas, at which lists are split: what has no `=` belongs to the pair before. */
function readPairs(items: readonly string[]): Map<string, string> {
  const pairs = new Map<string, string>();
  let last: string | undefined;
  for (const item of items) {
    const at = item.indexOf('=');
    if (at > 0) {
      last = item.slice(0, at);
      pairs.set(last, item.slice(at + 1));
    } else if (last !== undefined) pairs.set(last, `${pairs.get(last)},${item}`);
    else throw new UsageError(`--oidc-required-claim: ${JSON.stringify(item)} is not of the form key=value`);
  }
  return pairs;
}
