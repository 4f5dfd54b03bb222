import { assertGate } from './api.ts';
import type { AuthorizationOptions } from './authorization.ts';
import { bootstrapTokenFlags } from './bootstrap-tokens.ts';
import { reviewVersion } from './checks.ts';
import type { CommandLine } from './command-line.ts';
import type { FeatureGates } from './feature-gates.ts';
import { bool, duration, list, text, UsageError } from './flag.ts';
import { oidcFlags, readOidc } from './oidc.ts';
import { tlsFlags } from './tls.ts';

export const authenticationFlags = {
  anonymousAuth: bool('anonymous-auth', {
    default: true,
    meaning:
      'requests not rejected by another authenticator are anonymous, with user name system:anonymous and group system:unauthenticated',
  }),
  tokenAuthFile: text('token-auth-file', {
    default: '',
    meaning: 'static token file securing the secure port',
  }),
  clientCaFile: text('client-ca-file', {
    default: '',
    meaning:
      'a client certificate signed by these authorities authenticates with the certificate CommonName as identity',
  }),
  ...bootstrapTokenFlags,
  configFile: text('authentication-config', {
    default: '',
    meaning:
      'file configuring the token (JWT) authenticator or the anonymous authenticator; needs StructuredAuthenticationConfiguration; exclusive with the oidc-* flags; anonymous configuration needs AnonymousAuthConfigurableEndpoints and excludes --anonymous-auth',
  }),
  webhookConfigFile: text('authentication-token-webhook-config-file', {
    default: '',
    meaning: 'client configuration format file; the server asks the remote service about bearer tokens',
  }),
  webhookVersion: text('authentication-token-webhook-version', {
    default: 'v1beta1',
    meaning: 'TokenReview API version sent and expected',
    check: reviewVersion,
  }),
  webhookTtlMs: duration('authentication-token-webhook-cache-ttl', {
    default: '2m0s',
    meaning: 'cache time of webhook answers',
  }),
  apiAudiences: list('api-audiences', {
    default: [],
    meaning: 'identifiers of the API; service account tokens must be bound to one',
  }),
};

export const frontProxyFlags = {
  caFile: text('requestheader-client-ca-file', {
    default: '',
    meaning: 'bundle that verifies client certificates before trusting header identities',
  }),
  allowedNames: list('requestheader-allowed-names', {
    default: [],
    meaning: 'allowed certificate common names; empty means any verified certificate',
  }),
  usernameHeaders: list('requestheader-username-headers', {
    default: [],
    meaning: 'headers for user name, for example X-Remote-User',
    check: headerNames,
  }),
  uidHeaders: list('requestheader-uid-headers', {
    default: [],
    since: 32,
    meaning:
      'headers for the uid of the user; X-Remote-Uid must be one of them; needs the gate RemoteRequestHeaderUID',
    check: uidHeaderNames,
  }),
  groupHeaders: list('requestheader-group-headers', {
    default: [],
    meaning: 'headers for groups, for example X-Remote-Group',
    check: headerNames,
  }),
  extraHeaderPrefixes: list('requestheader-extra-headers-prefix', {
    default: [],
    meaning: 'prefixes for extra attributes, for example X-Remote-Extra-',
    check: headerNames,
  }),
};

export const serviceAccountFlags = {
  issuers: list('service-account-issuer', {
    default: [],
    meaning:
      'issuer id in the iss claim; should be an HTTPS URL serving discovery; the first is used to issue, all are accepted; https://kubernetes.default.svc.cluster.local when none is given',
    check: issuers,
  }),
  jwksUri: text('service-account-jwks-uri', {
    default: '',
    meaning: 'overrides the key set URI in the discovery document',
    check: jwksUri,
  }),
  keyFiles: list('service-account-key-file', {
    default: ['TLS private key file'],
    meaning: 'PEM keys (RSA or ECDSA) used to verify tokens; required when a signing key is given',
  }),
  signingKeyFile: text('service-account-signing-key-file', {
    default: '',
    meaning:
      'private key that signs issued tokens; when none is given, one is made and kept in the database, and rotate-signing-key makes the next',
  }),
  signingEndpoint: text('service-account-signing-endpoint', {
    default: '',
    since: 32,
    meaning:
      'Unix-domain socket of an external signer of tokens, which has the keys; needs the gate ExternalServiceAccountTokenSigner; cannot be given together with key files',
  }),
  lookup: bool('service-account-lookup', { default: true, meaning: 'check that tokens exist in storage' }),
  maxExpirationSeconds: duration('service-account-max-token-expiration', {
    meaning: 'longest validity; longer requests are shortened to it',
    check: maxExpirationSeconds,
  }),
  extendsExpiration: bool('service-account-extend-token-expiration', {
    default: true,
    meaning: 'injected tokens valid up to 1 year, ignoring the maximum',
  }),
};

/** How callers prove their identity. Times are in milliseconds. */
export type AuthenticationOptions = ReturnType<typeof readAuthentication>;
export type FrontProxyOptions = NonNullable<AuthenticationOptions['frontProxy']>;

/** @throws UsageError */
export function readAuthentication(
  line: CommandLine,
  { gates, authorization }: { gates: FeatureGates; authorization: AuthorizationOptions },
) {
  const said = line.valuesOf(authenticationFlags);
  const serviceAccounts = readServiceAccounts(line, gates);
  if (said.configFile !== '') checkConfigFile(line, gates);
  const frontProxy = line.valuesOf(frontProxyFlags);
  if (frontProxy.uidHeaders.length > 0)
    assertGate(gates, 'RemoteRequestHeaderUID', frontProxyFlags.uidHeaders.shown);
  return Object.freeze({
    /** Authorities of client certificates; '' for the one that is made here. */
    clientCaFile: said.clientCaFile,
    tokenAuthFile: said.tokenAuthFile,
    bootstrapTokens: said.bootstrapTokens,
    // Anonymous requests are refused where everything is allowed (Kubernetes does the same).
    anonymousAuth: said.anonymousAuth && !authorization.allowsEverything,
    /** Then the file must not configure anonymous requests. */
    anonymousIsSet: line.isGiven(authenticationFlags.anonymousAuth),
    /** A token must be for one of them. */
    apiAudiences: said.apiAudiences.length === 0 ? serviceAccounts.issuers : said.apiAudiences,
    /** '' for none; then `oidc` may configure the same. */
    configFile: said.configFile,
    oidc: readOidc(line),
    /** Without a file there is none. */
    webhook: {
      configFile: said.webhookConfigFile,
      version: said.webhookVersion,
      cacheTtlMs: said.webhookTtlMs,
    },
    frontProxy: frontProxy.caFile === '' ? undefined : frontProxy,
    serviceAccounts,
  });
}

function checkConfigFile(line: CommandLine, gates: FeatureGates): void {
  const { shown } = authenticationFlags.configFile;
  assertGate(gates, 'StructuredAuthenticationConfiguration', shown);
  const beside = line.firstGiven(Object.values(oidcFlags));
  if (beside !== undefined) throw new UsageError(`${shown} and ${beside.shown} are mutually exclusive`);
}

function readServiceAccounts(line: CommandLine, gates: FeatureGates) {
  const { keyFiles, ...said } = line.valuesOf(serviceAccountFlags);
  const { signingKeyFile, keyFiles: keyFilesFlag } = serviceAccountFlags;
  // The default of the flag is a description, not a file.
  const given = line.isGiven(keyFilesFlag) ? keyFiles : [];
  if (said.signingKeyFile !== '' && given.length === 0)
    throw new UsageError(`${signingKeyFile.shown} needs ${keyFilesFlag.shown}`);
  if (said.signingEndpoint !== '') checkSigningEndpoint(line, gates);
  const tlsKey = said.signingEndpoint === '' ? line.valueOf(tlsFlags.keyFile) : '';
  return { ...said, keyFiles: given.length === 0 && tlsKey !== '' ? [tlsKey] : given };
}

function checkSigningEndpoint(line: CommandLine, gates: FeatureGates): void {
  const { signingEndpoint, signingKeyFile, keyFiles } = serviceAccountFlags;
  assertGate(gates, 'ExternalServiceAccountTokenSigner', signingEndpoint.shown);
  const beside = line.firstGiven([signingKeyFile, keyFiles]);
  if (beside !== undefined)
    throw new UsageError(`${beside.shown} and ${signingEndpoint.shown} are mutually exclusive`);
  if (/^@(?!([\w-]+\.)*[\w-]+$)/.test(line.valueOf(signingEndpoint)))
    throw new UsageError(`${signingEndpoint.shown}: behind @ comes the name of an abstract socket`);
}

function headerNames(names: readonly string[], flag: string): readonly string[] {
  if (names.includes('')) throw new UsageError(`${flag}: a header has no empty name`);
  return names;
}

/** Aggregation hands on the uid in the standard header. */
function uidHeaderNames(names: readonly string[], flag: string): readonly string[] {
  headerNames(names, flag);
  if (names.length > 0 && !names.some((name) => name.toLowerCase() === 'x-remote-uid'))
    throw new UsageError(`${flag}: X-Remote-Uid must be one of them, or API aggregation does not work`);
  return names;
}

/** The issuer of clusters that name none. */
const DEFAULT_ISSUER = 'https://kubernetes.default.svc.cluster.local';

/** The first one issues, all are accepted. */
function issuers(given: readonly string[], flag: string): readonly string[] {
  for (const [at, issuer] of given.entries()) {
    const quoted = JSON.stringify(issuer);
    if (issuer === '') throw new UsageError(`${flag}: an issuer has no empty name`);
    if (issuer.includes(':') && !URL.canParse(issuer))
      throw new UsageError(`${flag}: ${quoted} contains a ':' but is not a valid URL`);
    if (given.indexOf(issuer) !== at) throw new UsageError(`${flag}: ${quoted} is given more than once`);
  }
  return given.length === 0 ? [DEFAULT_ISSUER] : given;
}

/** '' for this server's own. */
function jwksUri(uri: string, flag: string): string {
  if (uri === '' || (URL.canParse(uri) && new URL(uri).protocol === 'https:')) return uri;
  throw new UsageError(`${flag}: ${JSON.stringify(uri)} must be an https URL`);
}

const HOUR_SECONDS = 3600;

/** 0: no bound. */
function maxExpirationSeconds(ms: number, flag: string): number {
  const seconds = ms / 1000;
  if (seconds === 0 || (seconds >= HOUR_SECONDS && seconds <= 2 ** 32)) return seconds;
  throw new UsageError(`${flag} must be between 1 hour and 2^32 seconds, or nothing`);
}
