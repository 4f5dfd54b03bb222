import { readFileSync } from 'node:fs';
import type { AnonymousConfig } from '../authn/anonymous.ts';
import { fromOidcFlags, parseAuthenticationConfig } from '../authn/jwt/authentication-config.ts';
import type { JwtConfig } from '../authn/jwt/config.ts';
import { JwtAuthenticators } from '../authn/jwt/jwt-authenticators.ts';
import type { TokenAuthenticator } from '../authn/token.ts';
import type { Logger } from '../observability/logger.ts';
import type { ServerOptions } from '../options/options.ts';
import { createHttpsGet } from '../outbound/http-client.ts';
import { runTogether } from '../util/concurrency.ts';
import { FollowedFiles } from '../util/followed-files.ts';

export interface JwtAuthentication {
  readonly tokens: TokenAuthenticator;
  /** What the file says; undefined when it says nothing. It counts from the start on, and is not read again. */
  readonly anonymous: AnonymousConfig | undefined;
  run(signal: AbortSignal): Promise<void>;
}

/** Issuers from --authentication-config, read again when it changes, or from the --oidc flags. @throws Error */
export function createJwt(options: ServerOptions, logger: Logger): JwtAuthentication {
  const { configFile, apiAudiences, oidc } = options.authentication;
  const onError = (error: unknown): void => logger.error('authentication', error);
  const file =
    configFile === ''
      ? undefined
      : new FollowedFiles({
          paths: [configFile],
          make: ([text = '']) => parse(options, text),
          onChange: async ({ jwt }) => {
            await tokens.replace(jwt);
            logger.info(1, 'authentication', { message: `${configFile} was read again` });
          },
          onError,
        });
  const parsed = file?.current;
  const configs = parsed?.jwt ?? (oidc === undefined ? [] : [fromOidcFlags(readAuthority(oidc))]);
  const tokens = new JwtAuthenticators({ configs, apiAudiences, createGet: createHttpsGet, onError });
  return {
    tokens,
    anonymous: parsed?.anonymous,
    run: (signal) =>
      runTogether(
        [
          (either) => tokens.run(either),
          ...(file === undefined ? [] : [(either: AbortSignal) => file.run(either)]),
        ],
        signal,
      ),
  };
}

function parse(
  { authentication, featureGates }: ServerOptions,
  text: string,
): { readonly jwt: readonly JwtConfig[]; readonly anonymous: AnonymousConfig | undefined } {
  const config = parseAuthenticationConfig(text, {
    disallowedIssuers: authentication.serviceAccounts.issuers,
    anonymousAllowed: featureGates.isEnabled('AnonymousAuthConfigurableEndpoints'),
  });
  if (config.anonymous !== undefined && authentication.anonymousIsSet) {
    throw new Error(
      '--anonymous-auth cannot be given when the authentication configuration has the field anonymous',
    );
  }
  return config;
}

function readAuthority(
  oidc: NonNullable<ServerOptions['authentication']['oidc']>,
): Parameters<typeof fromOidcFlags>[0] {
  const { caFile, ...rest } = oidc;
  return { ...rest, certificateAuthority: caFile === '' ? undefined : readFileSync(caFile, 'utf8') };
}
