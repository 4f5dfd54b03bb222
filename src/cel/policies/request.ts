import type { Environment } from '@marcbachmann/cel-js';
import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { objectOf } from '../../object/json-values.ts';
import type { Fields } from '../libraries/optionals.ts';
import { toCel } from '../program.ts';

/** An object with declared fields, so that a misspelt field is found when the expression is compiled. */
class Known implements Fields {
  constructor(fields: Readonly<Record<string, unknown>>) {
    for (const [name, value] of Object.entries(fields))
      if (value !== undefined) Reflect.set(this, name, value);
  }

  hasField(name: string): boolean {
    return Object.hasOwn(this, name);
  }
}

class Kind extends Known {}
class Resource extends Known {}
class User extends Known {}
class Request extends Known {}

const KIND = 'kubernetes.GroupVersionKind';
const RESOURCE = 'kubernetes.GroupVersionResource';
const USER = 'kubernetes.UserInfo';
const REQUEST = 'kubernetes.AdmissionRequest';

/** `request` as expressions of policies see it (Kubernetes: admission/plugin/cel, compile). */
export const registerRequest = (environment: Environment): Environment =>
  environment
    .registerType(KIND, { ctor: Kind, fields: { group: 'string', version: 'string', kind: 'string' } })
    .registerType(RESOURCE, {
      ctor: Resource,
      fields: { group: 'string', version: 'string', resource: 'string' },
    })
    .registerType(USER, {
      ctor: User,
      fields: {
        username: 'string',
        uid: 'string',
        groups: 'list<string>',
        extra: 'map<string, list<string>>',
      },
    })
    .registerType(REQUEST, {
      ctor: Request,
      fields: {
        kind: KIND,
        resource: RESOURCE,
        subResource: 'string',
        requestKind: KIND,
        requestResource: RESOURCE,
        requestSubResource: 'string',
        name: 'string',
        namespace: 'string',
        operation: 'string',
        userInfo: USER,
        dryRun: 'bool',
        options: 'dyn',
      },
    })
    .registerOperator(`${REQUEST} == null: bool`, () => false)
    .registerVariable('request', REQUEST);

interface GroupVersionNames {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
}

/** The facts about a request that policies see. Empty texts are left out, as in an AdmissionReview. */
interface PolicyRequest {
  /** The resource that the policy matched, which may be an equivalent of the requested one. */
  readonly matched: GroupVersionNames;
  readonly requested: GroupVersionNames;
  readonly subresource: string;
  readonly name: string;
  readonly namespace: string;
  readonly operation: string;
  readonly user: {
    readonly username: string;
    readonly uid: string;
    readonly groups: readonly string[];
    readonly extra: Readonly<Record<string, readonly string[]>>;
  };
  readonly dryRun: boolean;
  readonly options: JsonValue;
}

/** The same, of the request of an AdmissionReview. */
export function reviewedRequest(request: JsonObject): unknown {
  const { kind, resource, requestKind, requestResource, userInfo, options, ...texts } = request;
  const { extra, ...user } = objectOf(userInfo);
  return new Request({
    ...texts,
    kind: new Kind(objectOf(kind)),
    resource: new Resource(objectOf(resource)),
    requestKind: new Kind(objectOf(requestKind)),
    requestResource: new Resource(objectOf(requestResource)),
    userInfo: new User({ ...user, extra: extra === undefined ? undefined : toCel(extra) }),
    options: toCel(options ?? null),
  });
}

const orAbsent = (text: string): string | undefined => (text === '' ? undefined : text);

export function requestValue(request: PolicyRequest): unknown {
  const { matched, requested, subresource, name, namespace, operation, dryRun, user, options } = request;
  return new Request({
    kind: kindOf(matched),
    resource: resourceOf(matched),
    subResource: orAbsent(subresource),
    requestKind: kindOf(requested),
    requestResource: resourceOf(requested),
    requestSubResource: orAbsent(subresource),
    name: orAbsent(name),
    namespace: orAbsent(namespace),
    operation,
    userInfo: userOf(user),
    dryRun,
    options: toCel(options),
  });
}

const kindOf = ({ group, version, kind }: GroupVersionNames): Kind => new Kind({ group, version, kind });
const resourceOf = ({ group, version, resource }: GroupVersionNames): Resource =>
  new Resource({ group, version, resource });

function userOf({ username, uid, groups, extra }: PolicyRequest['user']): User {
  return new User({
    username: orAbsent(username),
    uid: orAbsent(uid),
    groups: groups.length === 0 ? undefined : [...groups],
    extra: Object.keys(extra).length === 0 ? undefined : toCel(extra as JsonObject),
  });
}
