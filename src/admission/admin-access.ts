import type { Minor } from '../api/emulation.ts';
import { NAMESPACES } from '../api/known-resources.ts';
import type { ResourceOf } from '../api/names.ts';
import { invalid } from '../api/status.ts';
import type { DeviceRequest, ResourceClaim, ResourceClaimTemplate } from '../api/types/resource/stored.ts';
import { forbiddenField } from '../object/field-errors.ts';
import type { AdmissionAttributes, AdmissionPlugin } from './admission.ts';
import type { ClusterObjects } from './cluster-objects.ts';
import { ObjectLookup } from './object-lookup.ts';
import { isWriteOf } from './plugin.ts';

const CLAIMS: ResourceOf<ResourceClaim> = { group: 'resource.k8s.io', resource: 'resourceclaims' };
const TEMPLATES: ResourceOf<ResourceClaimTemplate> = {
  group: 'resource.k8s.io',
  resource: 'resourceclaimtemplates',
};

const LABEL = 'resource.kubernetes.io/admin-access';
/** Of 1.33. */
const OLD_LABEL = 'resource.k8s.io/admin-access';

/**
 * Refuses access for administration to devices in use, unless a label of the namespace allows it (Kubernetes:
 * pkg/registry/resource, AuthorizedForAdmin and AuthorizedForAdminStatus). Whether the feature is on is asked beforehand.
 */
export function guardAdminAccess(objects: ClusterObjects, minor: Minor): AdmissionPlugin {
  const namespaces = new ObjectLookup(objects, NAMESPACES);
  const label = minor === 33 ? OLD_LABEL : LABEL;
  return {
    name: 'AdminAccess',
    operations: ['CREATE', 'UPDATE'],
    validate: (attributes) => {
      const path = pathOf(attributes);
      const { namespace, foreseen, definition, name } = attributes;
      if (path === undefined) return undefined;
      return namespaces.with(
        '',
        namespace,
        (found) => {
          if (found?.metadata.labels?.[label] === 'true') return;
          const why = `admin access to devices requires the \`${label}: true\` label on the containing namespace`;
          throw invalid(definition, name, [forbiddenField(path, why)]);
        },
        foreseen,
      );
    },
  };
}

/** The path of the first field that asks for access; undefined: none does, or the stored object has it already. */
function pathOf(attributes: AdmissionAttributes): string | undefined {
  const isNew = attributes.operation === 'CREATE';
  if (isNew && isWriteOf(attributes, CLAIMS)) return pathIn(attributes.object?.spec?.devices?.requests);
  if (isNew && isWriteOf(attributes, TEMPLATES))
    return pathIn(attributes.object?.spec?.spec?.devices?.requests);
  return isWriteOf(attributes, CLAIMS, 'status') ? pathOfResult(attributes) : undefined;
}

/** The same path in claims and templates. */
function pathIn(requests: readonly DeviceRequest[] | null | undefined): string | undefined {
  const at = (requests ?? []).findIndex(({ exactly }) => exactly?.adminAccess === true);
  return at === -1 ? undefined : `spec.devices.requests[${at}].adminAccess`;
}

interface StatusWrite {
  readonly object: ResourceClaim | undefined;
  readonly old: ResourceClaim | undefined;
}

/** An allocation never changes: only a new one is asked about. */
function pathOfResult({ object, old }: StatusWrite): string | undefined {
  if (old?.status?.allocation !== undefined) return undefined;
  const results = object?.status?.allocation?.devices?.results ?? [];
  const at = results.findIndex(({ adminAccess }) => adminAccess === true);
  return at === -1 ? undefined : `status.allocation.devices.results[${at}].adminAccess`;
}
