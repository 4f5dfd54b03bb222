import type { GroupResource } from '../../api/names.ts';
import type { ApiObject, OwnerReference } from '../../api/object-meta.ts';
import { equal } from '../../object/equality.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { type Access, describePlugin, type PluginParts, type Right, refusal } from '../plugin.ts';

/** The resources that an owner reference's kind and API version can mean. Empty: there is no such kind. */
export type FindKind = (
  apiVersion: string,
  kind: string,
) => readonly (GroupResource & { readonly version: string; readonly namespaced: boolean })[];

/** A user with this right needs no check for each owner. */
const FINALIZE_ANYTHING: Right = {
  verb: 'update',
  group: '*',
  version: '*',
  resource: '*',
  subresource: 'finalizers',
  name: '*',
};

/**
 * Changing the owners of an object needs the right to delete it, because it will be deleted with its owner. Blocking the owner's
 * deletion needs the right to set finalizers on the owner (Kubernetes: plugin/pkg/admission/gc).
 */
function createOwnerReferencesPermission(access: Access, findKind: FindKind): AdmissionPlugin {
  return {
    name: 'OwnerReferencesPermissionEnforcement',
    operations: ['CREATE', 'UPDATE'],
    validate: (attributes) => {
      const { definition, subresource, object, old } = attributes;
      // Nodes write the status of pods, which cannot change owners.
      if (definition.group === '' && definition.resource === 'pods' && subresource === 'status')
        return undefined;
      if (equal(ownersOf(object), ownersOf(old))) return undefined;
      return check(attributes, access, findKind);
    },
  };
}

async function check(attributes: AdmissionAttributes, access: Access, findKind: FindKind): Promise<void> {
  const { user, operation, object, old } = attributes;
  if (operation !== 'CREATE') {
    const why = await access.whyNot(user, deletionOf(attributes));
    if (why !== undefined)
      throw refusal(attributes, `cannot set an ownerRef on a resource you can't delete: ${why}, <nil>`);
  }
  const blocking = newlyBlocking(ownersOf(object), ownersOf(old));
  if (blocking.length === 0 || (await access.whyNot(user, FINALIZE_ANYTHING)) === undefined) return;
  for (const owner of blocking) await checkOwner(owner, attributes, access, findKind);
}

async function checkOwner(
  { apiVersion = '', kind = '', name = '' }: OwnerReference,
  attributes: AdmissionAttributes,
  access: Access,
  findKind: FindKind,
): Promise<void> {
  const resources = findKind(apiVersion, kind);
  if (resources.length === 0) {
    throw refusal(
      attributes,
      `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: no matches for kind "${kind}" in version "${apiVersion}"`,
    );
  }
  for (const { namespaced, ...resource } of resources) {
    const namespace = namespaced ? attributes.namespace : '';
    const right = { verb: 'update', ...resource, subresource: 'finalizers', namespace, name };
    const why = await access.whyNot(attributes.user, right);
    if (why !== undefined)
      throw refusal(
        attributes,
        `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${why}, <nil>`,
      );
  }
}

const deletionOf = ({ definition, version, subresource, namespace, name }: AdmissionAttributes): Right => ({
  verb: 'delete',
  group: definition.group,
  version,
  resource: definition.resource,
  subresource,
  namespace,
  name,
});

const ownersOf = (object: ApiObject | undefined): readonly OwnerReference[] =>
  object?.metadata.ownerReferences ?? [];

function newlyBlocking(
  owners: readonly OwnerReference[],
  before: readonly OwnerReference[],
): OwnerReference[] {
  const didBlock = new Set(before.filter((owner) => owner.blockOwnerDeletion === true).map(({ uid }) => uid));
  return owners.filter(({ blockOwnerDeletion, uid }) => blockOwnerDeletion === true && !didBlock.has(uid));
}

export const ownerReferencesPermission = describePlugin({
  name: 'OwnerReferencesPermissionEnforcement',
  isDefault: false,
  create: ({ access, findKind }: Pick<PluginParts, 'access'> & { readonly findKind: FindKind }) =>
    createOwnerReferencesPermission(access, findKind),
});
