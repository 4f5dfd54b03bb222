import type { AuthorizationAttributes } from '../../src/authz/authorizer.ts';
import type { ResourceTarget, UserInfo } from '../../src/request/api-request.ts';
import type { Followed } from '../../src/storage/follower.ts';
import { toRevision } from '../../src/storage/revision.ts';
import type { Entry, ObjectEventType } from '../../src/storage/store.ts';

/** Questions to authorizers, and objects for their indexes, without a server and a database. */

export const user = (username: string, ...groups: string[]): UserInfo => ({
  username,
  uid: '',
  groups,
  extra: {},
});

const NO_TARGET: ResourceTarget = {
  group: '',
  version: 'v1',
  resource: '',
  namespace: '',
  name: '',
  subresource: '',
  subpath: '',
};

/** `pods`, `deployments.apps/scale`: a resource, its group and its subresource. */
export function asks(
  who: UserInfo,
  verb: string,
  what: string,
  where: { namespace?: string; name?: string } = {},
): AuthorizationAttributes {
  const [qualified = '', subresource = ''] = what.split('/');
  const [resource = '', ...group] = qualified.split('.');
  return {
    user: who,
    verb,
    target: { ...NO_TARGET, resource, group: group.join('.'), subresource, ...where },
    path: '',
  };
}

export const asksPath = (who: UserInfo, verb: string, path: string): AuthorizationAttributes => ({
  user: who,
  verb,
  target: undefined,
  path,
});

/** An object as the store has it. */
export function entry(object: {
  metadata: { name: string; namespace?: string; uid?: string };
  [field: string]: unknown;
}): Entry {
  const { name, namespace = '', uid = name } = object.metadata;
  const { nodeName = '' } = (object.spec ?? {}) as { nodeName?: string };
  return {
    namespace,
    name,
    uid,
    revision: toRevision(1),
    json: Buffer.from(JSON.stringify(object)),
    sizeBytes: 0,
    metadataEnd: 0,
    labels: {},
    fields: { 'spec.nodeName': nodeName },
    ownerUids: [],
  };
}

export function happens(index: Followed, type: ObjectEventType, object: Parameters<typeof entry>[0]): void {
  const changed = entry(object);
  index.apply({ type, entry: changed, revision: changed.revision });
}
