import type { FeatureGates } from './feature-gates.ts';
import { UsageError } from './flag.ts';
import { type OidcOptions, readOidc } from './oidc.ts';
import type { FlagValues } from './parse.ts';

/** Who may say who they are, and how. Times are in milliseconds. */
export interface AuthenticationOptions {
  /** Whom tokens must be for. */
  readonly apiAudiences: readonly string[];
  readonly bootstrapTokens: boolean;
  /** '' for none; then `oidc` may say what the file would. */
  readonly configFile: string;
  readonly oidc: OidcOptions | undefined;
  /** --anonymous-auth was given: the file must not say something else. */
  readonly anonymousIsSet: boolean;
  readonly webhook: {
    /** '' for none. */
    readonly configFile: string;
    readonly version: 'v1' | 'v1beta1';
    readonly cacheTtlMs: number;
  };
  readonly frontProxy: FrontProxyOptions | undefined;
  readonly serviceAccounts: ServiceAccountOptions;
}

export interface FrontProxyOptions {
  readonly caFile: string;
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

export interface ServiceAccountOptions {
  /** The first one issues, all are accepted. */
  readonly issuers: readonly string[];
  /** '' for this server's own. */
  readonly jwksUri: string;
  readonly keyFiles: readonly string[];
  /** '' for the key of the data directory. */
  readonly signingKeyFile: string;
  readonly lookup: boolean;
  /** 0: no bound. */
  readonly maxExpirationSeconds: number;
  readonly extendsExpiration: boolean;
}

/** What clusters call themselves when nobody names them. */
const DEFAULT_ISSUER = 'https://kubernetes.default.svc.cluster.local';
const HOUR_SECONDS = 3600;

/** @throws UsageError */
export function readAuthentication(flags: FlagValues, gates: FeatureGates): AuthenticationOptions {
  const serviceAccounts = readServiceAccounts(flags);
  const audiences = flags.strings('api-audiences');
  const configFile = flags.string('authentication-config');
  checkConfigFile(configFile, flags, gates);
  return {
    apiAudiences: audiences.length === 0 ? serviceAccounts.issuers : audiences,
    bootstrapTokens: flags.bool('enable-bootstrap-token-auth'),
    configFile,
    oidc: readOidc(flags),
    anonymousIsSet: flags.isSet('anonymous-auth'),
    webhook: readWebhook(flags),
    frontProxy: readFrontProxy(flags),
    serviceAccounts,
  };
}

function checkConfigFile(path: string, flags: FlagValues, gates: FeatureGates): void {
  if (path === '') return;
  if (!gates.isEnabled('StructuredAuthenticationConfiguration')) {
    throw new UsageError(
      '--authentication-config needs --feature-gates=StructuredAuthenticationConfiguration=true',
    );
  }
  const beside = flags.given('oidc-');
  if (beside !== undefined)
    throw new UsageError(`--authentication-config and --${beside} are mutually exclusive`);
}

function readWebhook(flags: FlagValues): AuthenticationOptions['webhook'] {
  const version = flags.string('authentication-token-webhook-version');
  if (version !== 'v1' && version !== 'v1beta1') {
    throw new UsageError(
      `--authentication-token-webhook-version: ${JSON.stringify(version)} must be v1 or v1beta1`,
    );
  }
  return {
    configFile: flags.string('authentication-token-webhook-config-file'),
    version,
    cacheTtlMs: flags.duration('authentication-token-webhook-cache-ttl'),
  };
}

function readFrontProxy(flags: FlagValues): FrontProxyOptions | undefined {
  const names = [
    'requestheader-username-headers',
    'requestheader-group-headers',
    'requestheader-extra-headers-prefix',
  ];
  for (const name of names) {
    if (flags.strings(name).includes('')) throw new UsageError(`--${name}: a header has no empty name`);
  }
  const caFile = flags.string('requestheader-client-ca-file');
  if (caFile === '') return undefined;
  return {
    caFile,
    allowedNames: flags.strings('requestheader-allowed-names'),
    usernameHeaders: flags.strings('requestheader-username-headers'),
    groupHeaders: flags.strings('requestheader-group-headers'),
    extraHeaderPrefixes: flags.strings('requestheader-extra-headers-prefix'),
  };
}

function readServiceAccounts(flags: FlagValues): ServiceAccountOptions {
  const given = flags.strings('service-account-issuer');
  const issuers = given.length === 0 ? [DEFAULT_ISSUER] : given;
  for (const [at, issuer] of issuers.entries()) checkIssuer(issuer, issuers.indexOf(issuer) !== at);
  const keyFiles = flags.isSet('service-account-key-file') ? flags.strings('service-account-key-file') : [];
  const signingKeyFile = flags.string('service-account-signing-key-file');
  if (signingKeyFile !== '' && keyFiles.length === 0)
    throw new UsageError('--service-account-signing-key-file needs --service-account-key-file');
  const tlsKey = flags.string('tls-private-key-file');
  return {
    issuers,
    jwksUri: readJwksUri(flags),
    keyFiles: keyFiles.length === 0 && tlsKey !== '' ? [tlsKey] : keyFiles,
    signingKeyFile,
    lookup: flags.bool('service-account-lookup'),
    maxExpirationSeconds: readMaxExpiration(flags),
    extendsExpiration: flags.bool('service-account-extend-token-expiration'),
  };
}

function checkIssuer(issuer: string, repeated: boolean): void {
  const quoted = JSON.stringify(issuer);
  if (issuer === '') throw new UsageError('--service-account-issuer: an issuer has no empty name');
  if (issuer.includes(':') && !URL.canParse(issuer))
    throw new UsageError(`--service-account-issuer: ${quoted} contains a ':' but is not a valid URL`);
  if (repeated) throw new UsageError(`--service-account-issuer: ${quoted} is given more than once`);
}

function readJwksUri(flags: FlagValues): string {
  const uri = flags.string('service-account-jwks-uri');
  if (uri !== '' && !(URL.canParse(uri) && new URL(uri).protocol === 'https:'))
    throw new UsageError(`--service-account-jwks-uri: ${JSON.stringify(uri)} must be an https URL`);
  return uri;
}

function readMaxExpiration(flags: FlagValues): number {
  const seconds = flags.duration('service-account-max-token-expiration') / 1000;
  if (seconds !== 0 && (seconds < HOUR_SECONDS || seconds > 2 ** 32)) {
    throw new UsageError(
      '--service-account-max-token-expiration must be between 1 hour and 2^32 seconds, or nothing',
    );
  }
  return seconds;
}
