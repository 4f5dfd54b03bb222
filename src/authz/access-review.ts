import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { AuthorizationAttributes } from './authorizer.ts';

/** SubjectAccessReviews, for webhooks. */

export type ReviewVersion = 'v1' | 'v1beta1';

export interface ReviewStatus {
  readonly allowed: boolean;
  readonly denied: boolean;
  readonly reason: string;
}

/** The spec of authorization.k8s.io/v1, without empty fields. */
export function toReviewSpec({ user, verb, target, path }: AuthorizationAttributes): JsonObject {
  const { username, uid, groups, extra } = user;
  const { subpath: _, ...resource } = target ?? {};
  const attributes =
    target === undefined
      ? { nonResourceAttributes: filled({ path, verb }) }
      : { resourceAttributes: filled({ ...resource, verb }) };
  return {
    ...attributes,
    ...filled({ user: username, uid }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    ...(Object.keys(extra).length === 0 ? {} : { extra: copyExtra(extra) }),
  };
}

/** In v1beta1 the groups are called `group`. */
export function toReview(spec: JsonObject, version: ReviewVersion): JsonObject {
  const { groups, ...rest } = spec;
  const sent = version === 'v1' || groups === undefined ? spec : { ...rest, group: groups };
  return {
    kind: 'SubjectAccessReview',
    apiVersion: `authorization.k8s.io/${version}`,
    metadata: {},
    spec: sent,
    status: { allowed: false },
  };
}

/** @throws Error when the answer is no review */
export function parseReviewStatus(answer: JsonValue): ReviewStatus {
  const { kind, status } = asObject(answer);
  if (kind !== undefined && kind !== 'SubjectAccessReview') {
    throw new Error(`webhook answered with a ${JSON.stringify(kind)} instead of a SubjectAccessReview`);
  }
  const { allowed, denied, reason } = asObject(status);
  return {
    allowed: allowed === true,
    denied: denied === true,
    reason: typeof reason === 'string' ? reason : '',
  };
}

function asObject(value: JsonValue | undefined): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new Error('webhook answered with no SubjectAccessReview');
}

const filled = (fields: Readonly<Record<string, string>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));

const copyExtra = (extra: Readonly<Record<string, readonly string[]>>): JsonObject =>
  Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));
