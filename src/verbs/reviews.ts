import { canonicalGroup } from '../api/dialect.ts';
import type { ApiObject, JsonObject, JsonValue } from '../api/object-meta.ts';
import { badRequest } from '../api/status.ts';
import type { Authenticator } from '../authn/authenticator.ts';
import type { AuthorizationAttributes, Authorizer } from '../authz/authorizer.ts';
import { isObject, objectOf } from '../object/json-values.ts';
import type { AuthorizedResourceRequest, ResourceTarget, UserInfo } from '../request/api-request.ts';
import { StorageError } from '../storage/errors.ts';
import type { VirtualHandler } from './call.ts';

/** The reviews of authentication.k8s.io and authorization.k8s.io, answered by what guards real requests. */

export function createReviews(options: {
  authorizer: Authorizer;
  authenticator: Authenticator;
  /** --api-audiences */
  apiAudiences: readonly string[];
}): [string, VirtualHandler][] {
  const { authorizer, authenticator, apiAudiences } = options;
  return [
    [
      'authentication.k8s.io/selfsubjectreviews',
      (body, { user }) => ({ ...body, status: { userInfo: toUserInfo(user) } }),
    ],
    ['authentication.k8s.io/tokenreviews', (body) => reviewToken(body, { authenticator, apiAudiences })],
    [
      'authorization.k8s.io/selfsubjectaccessreviews',
      (body, { user }) => reviewAccess(authorizer, body, user),
    ],
    ['authorization.k8s.io/subjectaccessreviews', (body) => reviewAccess(authorizer, body, subjectOf(body))],
    [
      'authorization.k8s.io/localsubjectaccessreviews',
      (body, request) => reviewLocal(authorizer, body, request),
    ],
    ['authorization.k8s.io/selfsubjectrulesreviews', (body, { user }) => reviewRules(authorizer, body, user)],
  ];
}

const specOf = (body: ApiObject): JsonObject => (isObject(body.spec) ? body.spec : {});
const text = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');
const texts = (value: JsonValue | undefined): string[] => (Array.isArray(value) ? value.map(String) : []);

function subjectOf(body: ApiObject): UserInfo {
  const spec = specOf(body);
  const extra = isObject(spec.extra) ? spec.extra : {};
  return {
    username: text(spec.user),
    uid: text(spec.uid),
    groups: texts(spec.groups),
    extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, texts(values)])),
  };
}

async function reviewAccess(authorizer: Authorizer, body: ApiObject, user: UserInfo): Promise<JsonObject> {
  const { decision, reason, error } = await authorizer.authorize(toAttributes(specOf(body), user));
  const status = {
    allowed: decision === 'allow',
    ...(decision === 'deny' ? { denied: true } : {}),
    ...(reason === '' ? {} : { reason }),
    ...(error === undefined ? {} : { evaluationError: error }),
  };
  return { ...withoutSelectors(body), status };
}

/** Questions about some objects of a resource are behind the gate AuthorizeWithSelectors, which is closed. */
function withoutSelectors(body: ApiObject): ApiObject {
  const spec = specOf(body);
  if (!isObject(spec.resourceAttributes)) return body;
  const { labelSelector: _, fieldSelector: __, ...resourceAttributes } = spec.resourceAttributes;
  return { ...body, spec: { ...spec, resourceAttributes } };
}

function reviewLocal(
  authorizer: Authorizer,
  body: ApiObject,
  { target }: AuthorizedResourceRequest,
): Promise<JsonObject> {
  const asked = specOf(body).resourceAttributes;
  if (!isObject(asked) || text(asked.namespace) !== target.namespace) {
    throw badRequest(
      `spec.resourceAttributes.namespace must be the namespace of the request, ${JSON.stringify(target.namespace)}`,
    );
  }
  return reviewAccess(authorizer, body, subjectOf(body));
}

function toAttributes(spec: JsonObject, user: UserInfo): AuthorizationAttributes {
  const { resourceAttributes: resource, nonResourceAttributes: path } = spec;
  if (isObject(resource) === isObject(path)) {
    throw badRequest('exactly one of spec.resourceAttributes and spec.nonResourceAttributes must be set');
  }
  if (isObject(path)) return { user, verb: text(path.verb), target: undefined, path: text(path.path) };
  const asked = objectOf(resource);
  return { user, verb: text(asked.verb), target: toTarget(asked), path: '' };
}

const toTarget = (asked: Readonly<JsonObject>): ResourceTarget => ({
  group: canonicalGroup(text(asked.group)).group,
  version: text(asked.version),
  resource: text(asked.resource),
  namespace: text(asked.namespace),
  name: text(asked.name),
  subresource: text(asked.subresource),
  subpath: '',
});

function reviewRules(authorizer: Authorizer, body: ApiObject, user: UserInfo): JsonObject {
  const namespace = text(specOf(body).namespace);
  if (namespace === '') throw badRequest('no namespace on request');
  const { resourceRules, nonResourceRules, incomplete = false, error } = authorizer.rules(user, namespace);
  const copy = (rules: readonly object[]): JsonObject[] => structuredClone([...rules]) as JsonObject[];
  return {
    ...body,
    status: {
      resourceRules: copy(resourceRules),
      nonResourceRules: copy(nonResourceRules),
      incomplete,
      ...(error === undefined ? {} : { evaluationError: error }),
    },
  };
}

export function toUserInfo({ username, uid, groups, extra }: UserInfo): JsonObject {
  return {
    username,
    ...(uid === '' ? {} : { uid }),
    groups: [...groups],
    ...(Object.keys(extra).length === 0
      ? {}
      : { extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) }),
  };
}

/** A TokenReview: whose token it is, by the authenticators that requests pass. @throws StatusError 400 without a token */
export async function reviewToken(
  body: ApiObject,
  { authenticator, apiAudiences }: { authenticator: Authenticator; apiAudiences: readonly string[] },
): Promise<JsonObject> {
  const { token, audiences: given } = isObject(body.spec) ? body.spec : {};
  if (typeof token !== 'string' || token === '')
    throw badRequest('token is required for TokenReview in authentication');
  const asked = Array.isArray(given) ? given.filter((one) => typeof one === 'string') : [];
  const audiences = asked.length === 0 ? apiAudiences : asked;
  try {
    const headers = { authorization: `Bearer ${token}` };
    const credentials = { headers, raw: { headers: [] }, peerCertificate: undefined, audiences };
    const found = await authenticator.authenticate(credentials);
    if (found !== undefined) {
      const granted = found.audiences === undefined ? {} : { audiences: [...found.audiences] };
      return { ...body, status: { authenticated: true, user: toUserInfo(found.user), ...granted } };
    }
    return unknown(body, 'invalid bearer token');
  } catch (error) {
    if (error instanceof StorageError) throw error;
    // A token that is no good is an answer here, not a failure.
    return unknown(body, error instanceof Error ? error.message : String(error));
  }
}

const unknown = (body: ApiObject, error: string): JsonObject => ({ ...body, status: { user: {}, error } });
