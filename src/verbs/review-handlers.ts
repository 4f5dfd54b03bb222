import { canonicalGroup } from '../api/dialect.ts';
import type { Gates } from '../api/feature-gates.ts';
import type { ApiObject, JsonObject, JsonValue } from '../api/object-meta.ts';
import { badRequest } from '../api/status.ts';
import type { Authenticator } from '../authn/authenticator.ts';
import type { AskedSelectors, AuthorizationAttributes, Authorizer } from '../authz/authorizer.ts';
import { type ReviewSelectors, reviewedSelectors } from '../authz/review-selectors.ts';
import { isObject, objectOf } from '../object/json-values.ts';
import { toTimestamp } from '../object/timestamps.ts';
import type { ResourceTarget, UserInfo } from '../request/api-request.ts';
import { StorageError } from '../storage/errors.ts';
import { errorText } from '../util/error-text.ts';
import { checkReview, type ReviewForm } from './review-rules.ts';
import type { VirtualHandler } from './verb-call.ts';

/** Answers the reviews of authentication.k8s.io and authorization.k8s.io with the server's own authenticators and authorizers. */

export function createReviews(options: {
  authorizer: Authorizer;
  authenticator: Authenticator;
  /** --api-audiences */
  apiAudiences: readonly string[];
  isFeatureOn: Gates;
  now: () => Date;
}): [string, VirtualHandler][] {
  const { authenticator, apiAudiences, isFeatureOn, now } = options;
  const access: AccessParts = {
    authorizer: options.authorizer,
    selects: isFeatureOn('AuthorizeWithSelectors'),
  };
  return [
    [
      'authentication.k8s.io/selfsubjectreviews',
      ({ kind, apiVersion }, { user }) => ({
        ...{ kind, apiVersion, metadata: { creationTimestamp: toTimestamp(now()) } },
        status: { userInfo: toUserInfo(user) },
      }),
    ],
    ['authentication.k8s.io/tokenreviews', (body) => reviewToken(body, { authenticator, apiAudiences })],
    [
      'authorization.k8s.io/selfsubjectaccessreviews',
      (body, { user }) => reviewAccess(access, body, { form: 'self', user }),
    ],
    [
      'authorization.k8s.io/subjectaccessreviews',
      (body) => reviewAccess(access, body, { form: 'subject', user: subjectOf(body) }),
    ],
    [
      'authorization.k8s.io/localsubjectaccessreviews',
      (body) => reviewAccess(access, body, { form: 'local', user: subjectOf(body) }),
    ],
    [
      'authorization.k8s.io/selfsubjectrulesreviews',
      (body, { user }) => reviewRules(access.authorizer, body, user),
    ],
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

interface AccessParts {
  readonly authorizer: Authorizer;
  /** Whether selectors are supported (the feature AuthorizeWithSelectors). */
  readonly selects: boolean;
}

async function reviewAccess(
  { authorizer, selects }: AccessParts,
  body: ApiObject,
  { form, user }: { readonly form: ReviewForm; readonly user: UserInfo },
): Promise<JsonObject> {
  const question = selects ? body : withoutSelectors(body);
  checkReview(question, form);
  const attributes = toAttributes(specOf(question), user);
  const selectors = selectorsOf(question);
  const asked = selectors === undefined ? attributes : { ...attributes, selectors };
  const { decision, reason, error } = await authorizer.authorize(asked);
  const errors = [...(error === undefined ? [] : [error]), ...(selectors?.problems ?? [])];
  const status = {
    allowed: decision === 'allow',
    ...(decision === 'deny' ? { denied: true } : {}),
    ...(reason === '' ? {} : { reason }),
    ...(errors.length === 0 ? {} : { evaluationError: errors.join('; ') }),
  };
  return { ...question, status };
}

function selectorsOf(body: ApiObject): AskedSelectors | undefined {
  const { resourceAttributes } = specOf(body);
  if (!isObject(resourceAttributes)) return undefined;
  // The type of the review has decoded it.
  const { fieldSelector, labelSelector } = resourceAttributes as ReviewSelectors;
  if (fieldSelector === undefined && labelSelector === undefined) return undefined;
  const review = {
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
  };
  return reviewedSelectors(review);
}

function withoutSelectors(body: ApiObject): ApiObject {
  const spec = specOf(body);
  if (!isObject(spec.resourceAttributes)) return body;
  const { labelSelector: _, fieldSelector: __, ...resourceAttributes } = spec.resourceAttributes;
  return { ...body, spec: { ...spec, resourceAttributes } };
}

function toAttributes(spec: JsonObject, user: UserInfo): AuthorizationAttributes {
  const { resourceAttributes: resource, nonResourceAttributes: path } = spec;
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
    ...{ kind: body.kind, apiVersion: body.apiVersion, metadata: {}, spec: {} },
    status: {
      resourceRules: copy(resourceRules),
      nonResourceRules: copy(nonResourceRules),
      incomplete,
      ...(error === undefined ? {} : { evaluationError: error }),
    },
  };
}

function toUserInfo({ username, uid, groups, extra }: UserInfo): JsonObject {
  return {
    username,
    ...(uid === '' ? {} : { uid }),
    groups: [...groups],
    ...(Object.keys(extra).length === 0
      ? {}
      : { extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) }),
  };
}

/** Authenticates the token of a TokenReview as requests are authenticated. @throws StatusError 400 without a token */
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
    // An invalid token is an answer here, not a failure.
    return unknown(body, errorText(error));
  }
}

const unknown = (body: ApiObject, error: string): JsonObject => ({ ...body, status: { user: {}, error } });
