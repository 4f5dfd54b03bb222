import { canonicalGroup } from '../api/dialect.ts';
import { type GroupResource, parseQualifiedResource } from '../api/names.ts';
import { badRequest } from '../api/status.ts';
import type { Registry } from '../registry/registry.ts';
import type { ObjectKey } from '../storage/key.ts';

/**
 * Parses `<resource>[.<group>]:<namespace>:<name>`, which names an object in one word.
 *
 *   deployments.apps:default:web      pods:default:web-x      nodes::n1
 *
 * @returns the object under the resource that stores it
 * @throws StatusError 400
 */
export function parseReference(text: string, registry: Registry): ObjectKey {
  const [resource = '', namespace, ...rest] = text.split(':');
  // The names of roles and role bindings have colons.
  const name = rest.join(':');
  if (resource === '' || namespace === undefined || name === '')
    throw badRequest(
      `name: Invalid value: ${JSON.stringify(text)}: must be <resource>[.<group>]:<namespace>:<name>, such as deployments.apps:default:web or nodes::n1`,
    );
  return { ...storedResource(parseQualifiedResource(resource), registry), namespace, name };
}

/**
 * The resource under which objects are stored: two groups may share storage, and a group has a name in each dialect. A
 * resource that is not served any more keeps its name.
 */
export function storedResource(named: GroupResource, registry: Registry): GroupResource {
  const { group: canonical } = canonicalGroup(named.group);
  for (const version of registry.versions(canonical)) {
    const found = registry.find(canonical, version, named.resource);
    if (found === undefined) continue;
    const { group, resource } = found.definition.storage;
    return { group, resource };
  }
  return { group: canonical, resource: named.resource };
}
