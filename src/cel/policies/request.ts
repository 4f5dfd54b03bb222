import type { Environment } from '@marcbachmann/cel-js';
import type { JsonObject } from '../../api/object-meta.ts';
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

export const REQUEST_TYPES = [KIND, RESOURCE, USER, REQUEST];

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

/** The request of an AdmissionReview, without its objects. Empty texts are left out of it. */
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
