import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import {
  type AnonymousAccess,
  type Authenticator,
  createAnonymousAccess,
  createUnion,
} from '../authn/authenticator.ts';
import { BootstrapTokens } from '../authn/bootstrap-token.ts';
import { CertificateAuthorities, createCertificateAuthenticator } from '../authn/client-certificate.ts';
import {
  createFrontProxyAuthenticator,
  createHeaderStripper,
  type FrontProxyHeaders,
} from '../authn/front-proxy.ts';
import { StoredObjects } from '../authn/live-objects.ts';
import type { IssuerDocuments } from '../authn/service-account/issuer.ts';
import {
  createBearerAuthenticator,
  createTokenUnion,
  forAudiences,
  readTokenFile,
  type TokenAuthenticator,
  TokenCache,
} from '../authn/token.ts';
import { TokenWebhook } from '../authn/token-webhook.ts';
import type { PublishedAuthentication } from '../controllers/authentication-publisher.ts';
import { certificateExpiry } from '../observability/access-metrics.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import {
  type AuthenticationOptions,
  authenticationFlags,
  type FrontProxyOptions,
  frontProxyFlags,
} from '../options/authentication.ts';
import { explainFlag, type Flag } from '../options/flag.ts';
import { readClientConfig } from '../outbound/client-config.ts';
import { createJsonPost, isTransient } from '../outbound/http-client.ts';
import type { CreateGet } from '../outbound/shared-documents.ts';
import type { TokenIssuing } from '../registry/token-issuing.ts';
import type { Store } from '../storage/store.ts';
import { runTogether } from '../util/concurrency.ts';
import { aborted } from '../util/pause.ts';
import type { Egress } from './egress.ts';
import type { Foundation } from './foundation.ts';
import { createJwt } from './jwt-authentication.ts';
import { createServiceAccounts, type NoteUse, type SigningKeySource } from './service-accounts.ts';
import type { ServiceRun } from './services.ts';

/** Authentication of a running server. */
export interface Authentication {
  readonly authenticator: Authenticator;
  readonly anonymous: AnonymousAccess;
  readonly stripCredentials: (headers: IncomingHttpHeaders) => void;
  readonly tokens: TokenIssuing;
  /** Undefined: the issuer is not a URL that could serve documents. */
  readonly issuerDocuments: (() => IssuerDocuments) | undefined;
  /** Undefined: there is no token webhook. */
  readonly tokenWebhook: TokenAuthenticator | undefined;
  /** Published for servers behind this one. */
  readonly published: PublishedAuthentication;
  run: ServiceRun;
}

interface AuthenticationParts extends Pick<Foundation, 'emulated' | 'now' | 'persistently'> {
  /** Authorities of client certificates. */
  readonly clientCaFiles: readonly string[];
  readonly signingKeys: SigningKeySource;
  /** host:port under which clients reach the server. */
  readonly serverAddress: string;
  readonly store: Store;
  readonly noteUse: NoteUse;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly egress: Egress;
  /** Asks the token webhook of another thread; undefined: this thread asks it. */
  readonly tokensElsewhere?: TokenAuthenticator | undefined;
  /** The way to the documents of issuers. */
  readonly createGet: CreateGet;
  isFeatureOn(gate: string): boolean;
}

type Run = (signal: AbortSignal) => Promise<void>;

/**
 * Creates the authenticators in Kubernetes' order: front proxy, certificates, then tokens, first those that can be verified
 * locally. @throws Error that names the wrong flag or file
 */
export async function createAuthentication(
  options: AuthenticationOptions,
  parts: AuthenticationParts,
): Promise<Authentication> {
  const { frontProxy, apiAudiences } = options;
  const made = await createTokens(options, parts);
  const { tokens, anonymous, issuing, issuerDocuments, tokenWebhook, runs } = made;
  const certificates = createCertificates(frontProxy, parts);
  return {
    authenticator: createUnion([
      ...certificates.authenticators,
      createBearerAuthenticator(tokens, apiAudiences),
    ]),
    anonymous,
    stripCredentials: createHeaderStripper(frontProxy === undefined ? undefined : headersOf(frontProxy)),
    tokens: issuing,
    issuerDocuments,
    tokenWebhook,
    published: toPublished(parts.clientCaFiles, frontProxy),
    run: (signal, works) => {
      works();
      return runTogether([aborted, ...runs, ...certificates.runs], signal);
    },
  };
}

interface Certificates {
  readonly authenticators: readonly Authenticator[];
  readonly runs: readonly Run[];
}

/** The front proxy comes first: it has a certificate too. */
function createCertificates(
  proxy: FrontProxyOptions | undefined,
  { clientCaFiles, logger, metrics, isFeatureOn }: AuthenticationParts,
): Certificates {
  const onError = (error: unknown): void => logger.error('authentication', error);
  const authenticators: Authenticator[] = [];
  const runs: Run[] = [];
  const follow = (flag: Flag, paths: readonly string[]): CertificateAuthorities => {
    const authorities = new CertificateAuthorities(flag.name, paths, onError);
    runs.push((signal) => authorities.run(signal));
    return authorities;
  };
  if (proxy !== undefined) {
    const authorities = follow(frontProxyFlags.caFile, [proxy.caFile]);
    const { allowedNames } = proxy;
    authenticators.push(
      createFrontProxyAuthenticator({ authorities, allowedNames, headers: headersOf(proxy) }),
    );
  }
  if (clientCaFiles.length > 0) {
    const authorities = follow(authenticationFlags.clientCaFile, clientCaFiles);
    const readsUids = isFeatureOn('AllowParsingUserUIDFromCertAuth');
    authenticators.push(createCertificateAuthenticator(authorities, readsUids, certificateExpiry(metrics)));
  }
  return { authenticators, runs };
}

const headersOf = (options: FrontProxyOptions): FrontProxyHeaders => ({
  usernames: options.usernameHeaders,
  uids: options.uidHeaders,
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
      ...(proxy.uidHeaders.length === 0 ? {} : { 'requestheader-uid-headers': proxy.uidHeaders }),
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
  readonly tokenWebhook: TokenAuthenticator | undefined;
  readonly runs: readonly Run[];
}

async function createTokens(options: AuthenticationOptions, parts: AuthenticationParts): Promise<Tokens> {
  const { apiAudiences, bootstrapTokens, tokenAuthFile } = options;
  const objects = new StoredObjects(parts.store);
  const accounts = await createServiceAccounts(options, { ...parts, objects });
  const jwt = createJwt(options, parts);
  const tokenWebhook = createWebhook(options, parts);
  const tokens = createTokenUnion([
    ...(tokenAuthFile === '' ? [] : [forAudiences(apiAudiences, readTokens(tokenAuthFile))]),
    ...accounts.authenticators,
    ...(bootstrapTokens ? [forAudiences(apiAudiences, new BootstrapTokens(objects))] : []),
    jwt.tokens,
    ...(tokenWebhook === undefined ? [] : [tokenWebhook]),
  ]);
  return {
    tokens,
    anonymous: createAnonymousAccess(jwt.anonymous ?? { enabled: options.anonymousAuth }),
    issuing: accounts.issuing,
    issuerDocuments: accounts.documents,
    tokenWebhook,
    runs: [(signal) => accounts.run(signal), (signal) => jwt.run(signal)],
  };
}

const readTokens = (path: string): TokenAuthenticator =>
  explainFlag(authenticationFlags.tokenAuthFile.shown, () => readTokenFile(path));

function createWebhook(
  { webhook, apiAudiences }: AuthenticationOptions,
  { egress, tokensElsewhere }: AuthenticationParts,
): TokenAuthenticator | undefined {
  if (webhook.configFile === '') return undefined;
  if (tokensElsewhere !== undefined) return tokensElsewhere;
  const dial = egress.dials.controlplane;
  const { shown } = authenticationFlags.webhookConfigFile;
  const post = explainFlag(shown, () => createJsonPost(readClientConfig(webhook.configFile, dial)));
  const tokens = new TokenWebhook({ version: webhook.version, apiAudiences, post, isTransient });
  const { cacheTtlMs } = webhook;
  return new TokenCache({ tokens, successTtlMs: cacheTtlMs, failureTtlMs: cacheTtlMs });
}
