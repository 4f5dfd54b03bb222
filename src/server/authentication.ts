import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { type AnonymousAccess, createAnonymousAccess } from '../authn/anonymous.ts';
import { type Authenticator, createUnion } from '../authn/authenticator.ts';
import { createBearerAuthenticator } from '../authn/bearer-token.ts';
import { BootstrapTokens } from '../authn/bootstrap-token.ts';
import { CertificateAuthorities } from '../authn/certificate-authorities.ts';
import { createCertificateAuthenticator } from '../authn/client-certificate.ts';
import {
  createFrontProxyAuthenticator,
  createHeaderStripper,
  type FrontProxyHeaders,
} from '../authn/front-proxy.ts';
import { StoredObjects } from '../authn/live-objects.ts';
import type { IssuerDocuments } from '../authn/service-account/issuer-documents.ts';
import { createTokenUnion, forAudiences, type TokenAuthenticator } from '../authn/token.ts';
import { TokenCache } from '../authn/token-cache.ts';
import { readTokenFile } from '../authn/token-file.ts';
import { TokenWebhook } from '../authn/token-webhook.ts';
import type { PublishedAuthentication } from '../controllers/authentication-publisher.ts';
import type { Logger } from '../observability/logger.ts';
import type { FrontProxyOptions } from '../options/authentication.ts';
import type { ServerOptions } from '../options/options.ts';
import { readClientConfig } from '../outbound/client-config.ts';
import { createJsonPost, isTransient } from '../outbound/http-client.ts';
import type { TokenIssuing } from '../registry/token-issuing.ts';
import type { Store } from '../storage/store.ts';
import { runTogether } from '../util/concurrency.ts';
import { aborted } from '../util/pause.ts';
import { createJwt } from './jwt-authentication.ts';
import { createServiceAccounts, type NoteUse, type SigningKeySource } from './service-accounts.ts';
import type { ServiceRun } from './services.ts';

/** What authentication consists of in a running server. */
export interface Authentication {
  readonly authenticator: Authenticator;
  readonly anonymous: AnonymousAccess;
  readonly stripCredentials: (headers: IncomingHttpHeaders) => void;
  readonly tokens: TokenIssuing;
  /** Undefined: the issuer is no address that could have any. */
  readonly issuerDocuments: (() => IssuerDocuments) | undefined;
  /** For servers behind this one. */
  readonly published: PublishedAuthentication;
  run: ServiceRun;
}

export interface AuthenticationParts {
  readonly options: ServerOptions;
  /** Authorities of client certificates. */
  readonly clientCaFiles: readonly string[];
  readonly signingKeys: SigningKeySource;
  /** host:port under which clients reach the server. */
  readonly serverAddress: string;
  readonly store: Store;
  readonly noteUse: NoteUse;
  readonly logger: Logger;
}

type Run = (signal: AbortSignal) => Promise<void>;

/**
 * Asks in Kubernetes' order: a front proxy, certificates, then tokens, those first that can be told without asking somebody
 * else. @throws Error that names the flag or file that is wrong
 */
export async function createAuthentication(parts: AuthenticationParts): Promise<Authentication> {
  const { options, clientCaFiles } = parts;
  const { frontProxy } = options.authentication;
  const runs: Run[] = [];
  const { tokens, anonymous, issuing, issuerDocuments } = await createTokens(parts, runs);
  return {
    authenticator: createUnion([
      ...createCertificates(parts, runs),
      createBearerAuthenticator(tokens, options.authentication.apiAudiences),
    ]),
    anonymous,
    stripCredentials: createHeaderStripper(frontProxy === undefined ? undefined : headersOf(frontProxy)),
    tokens: issuing,
    issuerDocuments,
    published: toPublished(clientCaFiles, frontProxy),
    run: (signal, works) => {
      works();
      return runTogether([aborted, ...runs], signal);
    },
  };
}

/** The front proxy comes first: it has a certificate too. */
function createCertificates(
  { options, clientCaFiles, logger }: AuthenticationParts,
  runs: Run[],
): Authenticator[] {
  const { frontProxy } = options.authentication;
  const onError = (error: unknown): void => logger.error('authentication', error);
  const readAuthorities = (flag: string, paths: readonly string[]): CertificateAuthorities => {
    const authorities = new CertificateAuthorities(flag, paths, onError);
    runs.push((signal) => authorities.run(signal));
    return authorities;
  };
  const proxies = (frontProxy === undefined ? [] : [frontProxy]).map((proxy) =>
    createFrontProxyAuthenticator({
      authorities: readAuthorities('requestheader-client-ca-file', [proxy.caFile]),
      allowedNames: proxy.allowedNames,
      headers: headersOf(proxy),
    }),
  );
  if (clientCaFiles.length === 0) return proxies;
  return [...proxies, createCertificateAuthenticator(readAuthorities('client-ca-file', clientCaFiles))];
}

const headersOf = (options: FrontProxyOptions): FrontProxyHeaders => ({
  usernames: options.usernameHeaders,
  groups: options.groupHeaders,
  extra: options.extraHeaderPrefixes,
});

/** Keys and forms are Kubernetes' (kube-system/extension-apiserver-authentication). */
function toPublished(
  caFiles: readonly string[],
  proxy: FrontProxyOptions | undefined,
): PublishedAuthentication {
  const read = (paths: readonly string[]): string => paths.map((path) => readFileSync(path, 'utf8')).join('');
  const clients = caFiles.length === 0 ? {} : { 'client-ca-file': read(caFiles) };
  if (proxy === undefined) return { bundles: clients, lists: {} };
  return {
    bundles: { ...clients, 'requestheader-client-ca-file': read([proxy.caFile]) },
    lists: {
      'requestheader-allowed-names': proxy.allowedNames,
      'requestheader-username-headers': proxy.usernameHeaders,
      'requestheader-group-headers': proxy.groupHeaders,
      'requestheader-extra-headers-prefix': proxy.extraHeaderPrefixes,
    },
  };
}

interface Tokens {
  readonly tokens: TokenAuthenticator;
  readonly anonymous: AnonymousAccess;
  readonly issuing: TokenIssuing;
  readonly issuerDocuments: (() => IssuerDocuments) | undefined;
}

async function createTokens(parts: AuthenticationParts, runs: Run[]): Promise<Tokens> {
  const { options, logger } = parts;
  const { apiAudiences, bootstrapTokens } = options.authentication;
  const objects = new StoredObjects(parts.store);
  const accounts = await createServiceAccounts({ ...parts, objects });
  runs.push((signal) => accounts.run(signal));
  const jwt = createJwt(options, logger);
  runs.push((signal) => jwt.run(signal));
  const tokens = createTokenUnion([
    ...(options.tokenAuthFile === ''
      ? []
      : [forAudiences(apiAudiences, readTokenFile(options.tokenAuthFile))]),
    ...accounts.authenticators,
    ...(bootstrapTokens ? [forAudiences(apiAudiences, new BootstrapTokens(objects))] : []),
    jwt.tokens,
    ...createWebhook(options),
  ]);
  const anonymous = createAnonymousAccess(jwt.anonymous ?? { enabled: options.anonymousAuth });
  return { tokens, anonymous, issuing: accounts.issuing, issuerDocuments: accounts.documents };
}

function createWebhook({ authentication }: ServerOptions): TokenAuthenticator[] {
  const { webhook, apiAudiences } = authentication;
  if (webhook.configFile === '') return [];
  const post = createJsonPost(readClientConfig(webhook.configFile));
  const tokens = new TokenWebhook({ version: webhook.version, apiAudiences, post, isTransient });
  const { cacheTtlMs } = webhook;
  return [new TokenCache({ tokens, successTtlMs: cacheTtlMs, failureTtlMs: cacheTtlMs })];
}
