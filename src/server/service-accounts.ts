import type { ResourceOf } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import type { VerificationKey } from '../authn/jws.ts';
import type { LiveObjects } from '../authn/live-objects.ts';
import { BoundTokens } from '../authn/service-account/bound-tokens.ts';
import { ExternalSigner } from '../authn/service-account/external-signer.ts';
import {
  createIssuerDocuments,
  type IssuerDocuments,
  isDiscoverable,
  signWith,
  TokenIssuer,
} from '../authn/service-account/issuer.ts';
import {
  createKeyRing,
  FollowedKeyRing,
  type KeyRing,
  readSigningKey,
  readVerificationKeys,
} from '../authn/service-account/key-ring.ts';
import { LAST_USED, LEGACY_ISSUER, LegacyTokens } from '../authn/service-account/legacy-tokens.ts';
import { SignedTokens } from '../authn/service-account/signed-tokens.ts';
import { SignerMetrics } from '../authn/service-account/signer-metrics.ts';
import type { TokenAuthenticator } from '../authn/token.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { type AuthenticationOptions, serviceAccountFlags } from '../options/authentication.ts';
import { blameFlag, explainFlag } from '../options/flag.ts';
import type { TokenIssuing } from '../registry/token-issuing.ts';
import type { SigningKeyStore } from '../storage/signing-keys.ts';
import { AS_SERVER, type Client } from '../verbs/client/client.ts';
import type { Foundation } from './foundation.ts';

/** The life of an extended token. */
const YEAR_SECONDS = 365 * 24 * 3600;

const SECRETS: ResourceOf<ApiObject> = { group: '', resource: 'secrets' };

interface ServiceAccounts {
  readonly authenticators: readonly TokenAuthenticator[];
  readonly issuing: TokenIssuing;
  /** Undefined: the issuer is not a URL that could serve documents. */
  readonly documents: (() => IssuerDocuments) | undefined;
  run(signal: AbortSignal): Promise<void>;
}

/** Labels a secret with the day on which its token was used. */
export type NoteUse = (secret: ApiObject, day: string) => void;

/** The source of the keys of service account tokens. */
export interface SigningKeySource {
  /** A private key of the operator's; '' for the keys that the cluster keeps itself. */
  readonly file: string;
  readonly store: SigningKeyStore;
}

/** The keys of tokens, and the signing of new ones. */
interface TokenKeys {
  /** The same list until they change. */
  verifying(): readonly VerificationKey[];
  /** The keys in the documents of the issuer. */
  published(): readonly VerificationKey[];
  signClaims(claims: string): Promise<string>;
  /** Looks for keys that came since. */
  readonly fetchKeys?: () => Promise<void>;
  /** The longest life of a token that can be signed; undefined: any. */
  readonly maxExpirationSeconds?: number;
  run(signal: AbortSignal): Promise<void>;
}

async function openTokenKeys(
  { keyFiles, signingEndpoint }: AuthenticationOptions['serviceAccounts'],
  parts: ServiceAccountParts,
): Promise<TokenKeys> {
  if (signingEndpoint !== '') return openExternalKeys(signingEndpoint, parts);
  const ring = await openKeyRing(keyFiles, parts);
  const verifying = (): readonly VerificationKey[] => ring.current.verifying;
  return {
    ...{ verifying, published: verifying },
    signClaims: (claims) => signWith(claims, ring.current.signing),
    run: (signal) => ring.run(signal),
  };
}

/** @throws Error that names the flag when the signer does not answer */
async function openExternalKeys(
  socket: string,
  { logger, emulated, metrics: shown }: ServiceAccountParts,
): Promise<TokenKeys> {
  const metrics = new SignerMetrics();
  for (const instrument of metrics.instruments) shown.add(instrument);
  const onError = (error: unknown): void => logger.error('keys of the external signer', error);
  const version = emulated < 34 ? 'v1alpha1' : 'v1';
  const signer = await ExternalSigner.open({ socket, version, onError, metrics }).catch((error: unknown) => {
    throw blameFlag(serviceAccountFlags.signingEndpoint.shown, error);
  });
  return {
    verifying: () => signer.keys,
    published: () => signer.published,
    signClaims: (claims) => signer.sign(claims),
    fetchKeys: () => signer.fetch(),
    maxExpirationSeconds: signer.maxExpirationSeconds,
    run: (signal) => signer.run(signal),
  };
}

/** The operator's key never changes; the cluster's own keys change while servers run. @throws Error that names the mistake */
async function openKeyRing(
  keyFiles: readonly string[],
  { signingKeys, logger, persistently }: ServiceAccountParts,
): Promise<{ readonly current: KeyRing; run(signal: AbortSignal): Promise<void> }> {
  const { keyFiles: keys, signingKeyFile: signing } = serviceAccountFlags;
  const others = explainFlag(keys.shown, () => keyFiles.flatMap(readVerificationKeys));
  const { file, store } = signingKeys;
  if (file !== '') {
    const key = explainFlag(signing.shown, () => readSigningKey(file));
    return { current: createKeyRing(key, others), run: async () => {} };
  }
  const onChange = ({ signing, verifying }: KeyRing): void => {
    const believed = verifying.map(({ id }) => id).join(', ');
    logger.info(1, 'service account keys changed', { signing: signing.id, believed });
  };
  const onError = (error: unknown): void => logger.error('service account keys', error);
  return persistently(() => FollowedKeyRing.open({ store, others, onChange, onError }));
}

interface ServiceAccountParts extends Pick<Foundation, 'emulated' | 'persistently'> {
  readonly signingKeys: SigningKeySource;
  readonly serverAddress: string;
  readonly objects: LiveObjects;
  readonly noteUse: NoteUse;
  readonly logger: Logger;
  readonly metrics: Metrics;
  isFeatureOn(gate: string): boolean;
}

/** @throws Error that names the mistake */
export async function createServiceAccounts(
  { apiAudiences, serviceAccounts: accounts }: AuthenticationOptions,
  parts: ServiceAccountParts,
): Promise<ServiceAccounts> {
  const { objects, noteUse, isFeatureOn: isOn } = parts;
  const keys = await openTokenKeys(accounts, parts);
  const { shown } = serviceAccountFlags.maxExpirationSeconds;
  const most = keys.maxExpirationSeconds ?? Number.POSITIVE_INFINITY;
  if (accounts.maxExpirationSeconds > most)
    throw new Error(`${shown} must be at most ${most} seconds, the longest that the external signer allows`);
  const [issuer = ''] = accounts.issuers;
  const tokensOf = (issuers: readonly string[]): SignedTokens =>
    new SignedTokens({ issuers, keys: keys.verifying, fetchKeys: keys.fetchKeys, apiAudiences });
  const place = {
    issuer,
    jwksUri: accounts.jwksUri || `https://${parts.serverAddress}/openid/v1/jwks`,
  };
  return {
    authenticators: [
      new LegacyTokens({
        tokens: tokensOf([LEGACY_ISSUER]),
        objects: accounts.lookup ? objects : undefined,
        noteUse,
      }),
      new BoundTokens({
        tokens: tokensOf(accounts.issuers),
        objects,
        acceptsNodes: isOn('ServiceAccountTokenNodeBindingValidation'),
      }),
    ],
    issuing: new TokenIssuer({
      issuer,
      signClaims: keys.signClaims,
      apiAudiences,
      maxExpirationSeconds: accounts.maxExpirationSeconds || (keys.maxExpirationSeconds ?? 0),
      extendsExpiration: accounts.extendsExpiration,
      maxExtendedSeconds: Math.min(YEAR_SECONDS, most),
      numbersTokens: isOn('ServiceAccountTokenJTI'),
      bindsNodes: isOn('ServiceAccountTokenNodeBinding'),
      tellsNodes: isOn('ServiceAccountTokenPodNodeInfo'),
      checksUids: isOn('TokenRequestServiceAccountUIDValidation'),
    }),
    documents: isDiscoverable(issuer) ? () => createIssuerDocuments(place, keys.published()) : undefined,
    run: keys.run,
  };
}

/** A failure to note the day must not fail the request: the next request notes it again. */
export function createNoteUse(client: Client, logger: Logger): NoteUse {
  const author = client.as('legacy-service-account-token-tracking', AS_SERVER);
  return ({ metadata }, day) => {
    const { name = '', namespace = '', uid = '' } = metadata;
    const note = (secret: ApiObject): ApiObject => {
      const labels = { ...secret.metadata.labels, [LAST_USED]: day };
      return { ...secret, metadata: { ...secret.metadata, uid, labels } };
    };
    author
      .update(SECRETS, { namespace, name }, note)
      .catch((error: unknown) => logger.error(`the use of secret ${namespace}/${name} was not noted`, error));
  };
}
