import { createHash, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../api/types/core/v1.ts';
import type { Authentication } from './authenticator.ts';
import type { LiveObjects } from './live-objects.ts';
import type { TokenAuthenticator } from './token.ts';

/**
 * The namespace of the secrets. Its other name, cluster-system, is a separate namespace with separate rights, and the roles and
 * policies that keep tenants out (of controllers, of kubeadm, of administrators) name kube-system. A token makes an identity, so
 * tokens are read from this one namespace only.
 */
export const TOKEN_NAMESPACE = 'kube-system';
const TYPES = ['bootstrap.kubernetes.io/token', 'bootstrap.cluster.io/token'];
const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const GROUP = 'system:bootstrappers';
const EXTRA_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/**
 * --enable-bootstrap-token-auth: tokens `id.secret` with which a node asks for its first certificate, each in a secret
 * `bootstrap-token-<id>`. An invalid secret gives the same answer as an unknown token.
 */
export class BootstrapTokens implements TokenAuthenticator {
  readonly #objects: LiveObjects;
  readonly #now: () => number;

  constructor(objects: LiveObjects, now: () => number = Date.now) {
    this.#objects = objects;
    this.#now = now;
  }

  async authenticate(token: string): Promise<Authentication | undefined> {
    const [, id, secret] = TOKEN.exec(token) ?? [];
    if (id === undefined || secret === undefined) return undefined;
    const name = `bootstrap-token-${id}`;
    const object = await this.#objects.find('secrets', { namespace: TOKEN_NAMESPACE, name });
    const groups = object === undefined ? undefined : this.#groupsOf(object, id, secret);
    return groups === undefined
      ? undefined
      : { user: { username: `system:bootstrap:${id}`, uid: '', groups, extra: {} } };
  }

  /** Undefined when the secret does not let the token in. */
  #groupsOf(object: Secret, id: string, secret: string): string[] | undefined {
    const token = readBootstrapToken(object, 'authentication', this.#now());
    if (token?.id !== id || !equalSecrets(token.secret, secret)) return undefined;
    const extra = decode(object.data?.['auth-extra-groups']);
    const groups = extra === '' ? [] : extra.split(',');
    return groups.every((group) => EXTRA_GROUP.test(group))
      ? [...new Set([GROUP, ...groups])].sort()
      : undefined;
  }
}

/** Undefined: the secret is no token for this use at this time. */
export function readBootstrapToken(
  object: Secret,
  use: 'authentication' | 'signing',
  nowMs: number,
): { readonly id: string; readonly secret: string } | undefined {
  const read = (key: string): string => decode(object.data?.[key]);
  const isValid =
    object.metadata.deletionTimestamp === undefined &&
    isBootstrapToken(object) &&
    nowMs < (tokenExpiry(object) ?? Number.POSITIVE_INFINITY) &&
    read(`usage-bootstrap-${use}`) === 'true';
  return isValid ? { id: read('token-id'), secret: read('token-secret') } : undefined;
}

export const isBootstrapToken = ({ type }: Secret): boolean => TYPES.some((one) => one === type);

/** Milliseconds since 1970; undefined: never. An invalid time counts as passed. */
export function tokenExpiry({ data }: Secret): number | undefined {
  const text = decode(data?.expiration);
  if (text === '') return undefined;
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? Number.NEGATIVE_INFINITY : ms;
}

const decode = (value: string | null = ''): string => Buffer.from(value ?? '', 'base64').toString('utf8');

function equalSecrets(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
