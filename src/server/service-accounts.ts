import { createPublicKey } from 'node:crypto';
import type { ApiObject } from '../api/object-meta.ts';
import type { VerificationKey } from '../authn/jws.ts';
import type { LiveObjects } from '../authn/live-objects.ts';
import { BoundTokens } from '../authn/service-account/bound-tokens.ts';
import { TokenIssuer } from '../authn/service-account/issuer.ts';
import { createIssuerDocuments, type IssuerDocuments } from '../authn/service-account/issuer-documents.ts';
import {
  readSigningKey,
  readVerificationKeys,
  type SigningKey,
  toVerificationKey,
} from '../authn/service-account/keys.ts';
import { LAST_USED, LEGACY_ISSUER, LegacyTokens } from '../authn/service-account/legacy-tokens.ts';
import { SignedTokens } from '../authn/service-account/signed-tokens.ts';
import type { TokenAuthenticator } from '../authn/token.ts';
import { ControllerIdentity } from '../controllers/identity.ts';
import type { Logger } from '../observability/logger.ts';
import type { ServerOptions } from '../options/options.ts';
import type { Registry } from '../registry/registry.ts';
import type { TokenIssuing } from '../registry/token-issuing.ts';
import type { ObjectWriter } from '../verbs/writer.ts';

export interface ServiceAccounts {
  readonly authenticators: readonly TokenAuthenticator[];
  readonly issuing: TokenIssuing;
  readonly documents: IssuerDocuments | undefined;
}

/** Notes on a secret that its token was used on a day. */
export type NoteUse = (secret: ApiObject, day: string) => void;

/** @throws Error that names the file that is wrong */
export function createServiceAccounts(parts: {
  readonly options: ServerOptions;
  readonly serviceAccountKeyFile: string;
  readonly serverAddress: string;
  readonly objects: LiveObjects;
  readonly noteUse: NoteUse;
}): ServiceAccounts {
  const { options, objects, noteUse } = parts;
  const { apiAudiences, serviceAccounts: accounts } = options.authentication;
  const signingKey = readSigningKey(parts.serviceAccountKeyFile);
  const keys = collectKeys(signingKey, accounts.keyFiles);
  const isOn = (gate: string): boolean => options.featureGates.isEnabled(gate);
  const [issuer = ''] = accounts.issuers;
  const tokensOf = (issuers: readonly string[]): SignedTokens =>
    new SignedTokens({ issuers, keys, apiAudiences });
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
      signingKey,
      apiAudiences,
      maxExpirationSeconds: accounts.maxExpirationSeconds,
      extendsExpiration: accounts.extendsExpiration,
      numbersTokens: isOn('ServiceAccountTokenJTI'),
      bindsNodes: isOn('ServiceAccountTokenNodeBinding'),
      tellsNodes: isOn('ServiceAccountTokenPodNodeInfo'),
    }),
    documents: createIssuerDocuments(
      issuer,
      accounts.jwksUri || `https://${parts.serverAddress}/openid/v1/jwks`,
      keys,
    ),
  };
}

/** The signing key's own half comes first: a server always believes itself. */
function collectKeys(signingKey: SigningKey, files: readonly string[]): VerificationKey[] {
  const own = toVerificationKey(createPublicKey(signingKey.key));
  const others = files.flatMap(readVerificationKeys);
  return [...new Map([own, ...others].map((key) => [key.id, key])).values()];
}

/** Failing to note a day must not fail a request: the next one will. */
export function createNoteUse(registry: Registry, writer: ObjectWriter, logger: Logger): NoteUse {
  const definition = registry.findStorage({ group: '', resource: 'secrets' });
  const identity = new ControllerIdentity('legacy-service-account-token-tracking');
  return ({ metadata }, day) => {
    if (definition === undefined) return;
    const { name = '', namespace = '', uid = '' } = metadata;
    const apply = (secret: ApiObject): ApiObject => {
      const labels = { ...secret.metadata.labels, [LAST_USED]: day };
      return { ...secret, metadata: { ...secret.metadata, uid, labels } };
    };
    writer
      .update(identity.context(definition, namespace), name, { apply })
      .catch((error: unknown) => logger.error(`the use of secret ${namespace}/${name} was not noted`, error));
  };
}
