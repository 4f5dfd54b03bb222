import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Minor } from '../api/emulation.ts';
import type { AnonymousConfig } from '../authn/authenticator.ts';
import {
  type AuthenticationConfig,
  fromOidcFlags,
  parseAuthenticationConfig,
} from '../authn/jwt/authentication-config.ts';
import { EGRESS_GATE } from '../authn/jwt/issuer-config.ts';
import { JwtAuthenticators } from '../authn/jwt/jwt-authenticator.ts';
import type { JwtConfig } from '../authn/jwt/jwt-config.ts';
import { JwtMetrics } from '../authn/jwt/jwt-metrics.ts';
import type { TokenAuthenticator } from '../authn/token.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { type AuthenticationOptions, authenticationFlags } from '../options/authentication.ts';
import { explainFlag } from '../options/flag.ts';
import type { OidcOptions } from '../options/oidc.ts';
import type { CreateGet } from '../outbound/shared-documents.ts';
import { runTogether } from '../util/concurrency.ts';
import { FollowedFiles } from '../util/followed-files.ts';
import { ConfigMetrics } from './config-metrics.ts';

interface JwtAuthentication {
  readonly tokens: TokenAuthenticator;
  /** As of the start; later changes of the file are ignored. Undefined: not configured in the file. */
  readonly anonymous: AnonymousConfig | undefined;
  run(signal: AbortSignal): Promise<void>;
}

interface JwtParts {
  readonly logger: Logger;
  /** The way to the documents of issuers. */
  readonly createGet: CreateGet;
  readonly metrics: Metrics;
  readonly emulated: Minor;
  readonly now: () => Date;
  isFeatureOn(gate: string): boolean;
}

/** Issuers from a file that is read again when it changes, or else from flags. @throws Error */
export function createJwt(options: AuthenticationOptions, parts: JwtParts): JwtAuthentication {
  const { configFile, oidc } = options;
  if (configFile !== '') {
    const { shown } = authenticationFlags.configFile;
    return explainFlag(`${shown}: ${configFile}`, () => new FollowedIssuers(options, parts));
  }
  const configs = oidc === undefined ? [] : [fromOidcFlags(readAuthority(oidc))];
  const tokens = createAuthenticators(configs, { ...options, ...parts });
  return { tokens, anonymous: undefined, run: (signal) => tokens.run(signal) };
}

/** The issuers that a file names, which change with it. */
class FollowedIssuers implements JwtAuthentication {
  readonly #file: FollowedFiles<AuthenticationConfig>;
  readonly tokens: JwtAuthenticators;
  readonly anonymous: AnonymousConfig | undefined;

  constructor(options: AuthenticationOptions, parts: JwtParts) {
    const { logger } = parts;
    const path = options.configFile;
    const reloads = new ConfigMetrics({ ...parts, what: 'authentication', server: hostname() });
    this.#file = new FollowedFiles({
      paths: [path],
      make: ([text = '']) => parseFile(text, options, parts),
      onChange: async ({ jwt }) => {
        await this.tokens.replace(jwt);
        reloads.reloaded(this.#file.texts[0] ?? '');
        logger.info(1, 'authentication', { message: `${path} was read again` });
      },
      onError: (error) => {
        reloads.failed();
        logger.error('authentication', error);
      },
    });
    reloads.loaded(this.#file.texts[0] ?? '');
    this.tokens = createAuthenticators(this.#file.current.jwt, { ...options, ...parts });
    this.anonymous = this.#file.current.anonymous;
  }

  run(signal: AbortSignal): Promise<void> {
    return runTogether([(either) => this.tokens.run(either), (either) => this.#file.run(either)], signal);
  }
}

const createAuthenticators = (
  configs: readonly JwtConfig[],
  {
    apiAudiences,
    logger,
    createGet,
    metrics,
    isFeatureOn,
    emulated,
  }: Pick<AuthenticationOptions, 'apiAudiences'> & JwtParts,
): JwtAuthenticators => {
  const own = new JwtMetrics({
    server: hostname(),
    showsKeySets: isFeatureOn('StructuredAuthenticationConfigurationJWKSMetrics'),
  });
  if (configs.length > 0) for (const instrument of own.instruments) metrics.add(instrument);
  return new JwtAuthenticators({
    ...{ configs, apiAudiences, createGet, metrics: own, namesTokens: emulated >= 32 },
    onError: (error) => logger.error('authentication', error),
  });
};

function parseFile(
  text: string,
  { serviceAccounts, anonymousIsSet }: AuthenticationOptions,
  { isFeatureOn }: JwtParts,
): AuthenticationConfig {
  const config = parseAuthenticationConfig(text, {
    disallowedIssuers: serviceAccounts.issuers,
    anonymousAllowed: isFeatureOn('AnonymousAuthConfigurableEndpoints'),
    egressAllowed: isFeatureOn(EGRESS_GATE),
  });
  if (config.anonymous !== undefined && anonymousIsSet) {
    throw new Error(
      `${authenticationFlags.anonymousAuth.shown} cannot be given when the authentication configuration has the field anonymous`,
    );
  }
  return config;
}

function readAuthority({ caFile, ...rest }: OidcOptions): Parameters<typeof fromOidcFlags>[0] {
  return { ...rest, certificateAuthority: caFile === '' ? undefined : readFileSync(caFile, 'utf8') };
}
