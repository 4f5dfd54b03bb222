import type { ApiObject, JsonObject, JsonValue } from '../../api/object-meta.ts';
import { isObject, textOf } from '../../object/json-values.ts';
import type { Authentication } from '../authenticator.ts';
import type { LiveObjects, LiveResource } from '../live-objects.ts';
import type { TokenAuthenticator } from '../token.ts';
import { type SignedClaims, type SignedTokens, toUser } from './signed-tokens.ts';

interface BoundTokensOptions {
  readonly tokens: SignedTokens;
  readonly objects: LiveObjects;
  /** Feature gate ServiceAccountTokenNodeBindingValidation. */
  readonly acceptsNodes: boolean;
  readonly now?: () => number;
}

/** How far the clocks of servers may differ, and how long a deleted object still counts (Kubernetes: the same minute). */
const LEEWAY_SECONDS = 60;
const EXTRA = 'authentication.kubernetes.io/';
const INVALIDATED = 'service account token has been invalidated';

interface Reference {
  readonly name: string;
  readonly uid: string;
}

/** Tokens that live as long as the account, pod, secret or node they name (Kubernetes: pkg/serviceaccount/claims.go). */
export class BoundTokens implements TokenAuthenticator {
  readonly #options: BoundTokensOptions;

  constructor(options: BoundTokensOptions) {
    this.#options = options;
  }

  async authenticate(token: string, audiences: readonly string[]): Promise<Authentication | undefined> {
    const signed = await this.#options.tokens.read(token, audiences);
    if (signed === undefined) return undefined;
    const nowSeconds = (this.#options.now ?? Date.now)() / 1000;
    checkTimes(signed.claims, nowSeconds);
    const own = isObject(signed.claims['kubernetes.io']) ? signed.claims['kubernetes.io'] : {};
    const namespace = textOf(own.namespace);
    const account = toReference(own.serviceaccount) ?? { name: '', uid: '' };
    await this.#checkAccount(namespace, account, nowSeconds);
    const extra = await this.#checkBindings(namespace, own, nowSeconds);
    const id = textOf(signed.claims.jti);
    return {
      user: toUser({ namespace, name: account.name }, account.uid, {
        ...(id === '' ? {} : { [`${EXTRA}credential-id`]: [`JTI=${id}`] }),
        ...extra,
      }),
      audiences: signed.audiences,
      annotations: annotationsOf(signed, own, nowSeconds),
    };
  }

  async #checkAccount(namespace: string, { name, uid }: Reference, nowSeconds: number): Promise<void> {
    const account = await this.#options.objects.find('serviceaccounts', { namespace, name, uid });
    if (account === undefined) throw new Error(`serviceaccounts ${JSON.stringify(name)} not found`);
    const actual = account.metadata.uid ?? '';
    if (actual !== uid) throw new Error(`service account UID (${actual}) does not match claim (${uid})`);
    if (isGone(account, nowSeconds)) throw new Error(`service account ${namespace}/${name} has been deleted`);
  }

  /** Checks that the objects that the token is bound to exist. Returns the user's extra values about them. */
  async #checkBindings(
    namespace: string,
    own: JsonObject,
    nowSeconds: number,
  ): Promise<Record<string, string[]>> {
    const secret = toReference(own.secret);
    const pod = toReference(own.pod);
    const node = toReference(own.node);
    if (secret !== undefined) await this.#checkBound('secrets', { namespace, ...secret }, nowSeconds);
    if (pod !== undefined) await this.#checkBound('pods', { namespace, ...pod }, nowSeconds);
    else if (node !== undefined) await this.#checkNode(node, nowSeconds);
    return {
      ...(node === undefined ? {} : toExtra('node', node)),
      ...(pod === undefined ? {} : toExtra('pod', pod)),
    };
  }

  async #checkNode(node: Reference, nowSeconds: number): Promise<void> {
    if (!this.#options.acceptsNodes) {
      throw new Error(
        'token is bound to a Node object but the ServiceAccountTokenNodeBindingValidation feature gate is disabled',
      );
    }
    await this.#checkBound('nodes', { namespace: '', ...node }, nowSeconds);
  }

  async #checkBound(
    resource: LiveResource,
    key: Reference & { readonly namespace: string },
    nowSeconds: number,
  ): Promise<void> {
    const object = await this.#options.objects.find(resource, key);
    if (object === undefined || isGone(object, nowSeconds)) throw new Error(INVALIDATED);
    const actual = object.metadata.uid ?? '';
    if (actual === key.uid) return;
    const kind = KINDS[resource];
    throw new Error(
      `${kind} UID (${actual}) does not match service account ${kind.toLowerCase()} ref claim (${key.uid})`,
    );
  }
}

const KINDS: Readonly<Record<LiveResource, string>> = {
  serviceaccounts: 'service account',
  pods: 'Pod',
  secrets: 'secret',
  nodes: 'Node',
};

/**
 * A token ends exactly at its expiration. Its beginning may lie a little in the future, because clocks differ; no leeway is given
 * for its end.
 */
function checkTimes({ exp, nbf, iat }: JsonObject, nowSeconds: number): void {
  if (typeof exp === 'number' && nowSeconds >= exp) throw new Error('service account token has expired');
  const latest = nowSeconds + LEEWAY_SECONDS;
  if (typeof nbf === 'number' && nbf > latest) throw new Error('service account token is not valid yet');
  if (typeof iat === 'number' && iat > latest)
    throw new Error('service account token is issued in the future');
}

function isGone({ metadata }: ApiObject, nowSeconds: number): boolean {
  const { deletionTimestamp } = metadata;
  return (
    deletionTimestamp !== undefined && Date.parse(deletionTimestamp) / 1000 < nowSeconds - LEEWAY_SECONDS
  );
}

function toReference(value: JsonValue | undefined): Reference | undefined {
  return isObject(value) ? { name: textOf(value.name), uid: textOf(value.uid) } : undefined;
}

function toExtra(kind: 'pod' | 'node', { name, uid }: Reference): Record<string, string[]> {
  return {
    [`${EXTRA}${kind}-name`]: [name],
    ...(uid === '' ? {} : { [`${EXTRA}${kind}-uid`]: [uid] }),
  };
}

function annotationsOf(
  { claims, withoutAudience }: SignedClaims,
  { warnafter }: JsonObject,
  nowSeconds: number,
): Record<string, string> {
  const subject = textOf(claims.sub);
  const late = typeof warnafter === 'number' && warnafter > 0 ? Math.floor(nowSeconds) - warnafter : 0;
  return {
    ...(withoutAudience ? { 'authentication.k8s.io/legacy-token': subject } : {}),
    ...(late > 0
      ? {
          'authentication.k8s.io/stale-token': `subject: ${subject}, seconds after warning threshold: ${late}`,
        }
      : {}),
  };
}
