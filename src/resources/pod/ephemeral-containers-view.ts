import type { ApiObject } from '../../api/object-meta.ts';
import { part, parts } from '../../object/parts.ts';
import type { ViewSubresource } from '../../registry/definition.ts';
import { defaultPodSpec } from './pod-defaults.ts';
import { validateEphemeralUpdate } from './validation/ephemeral-containers.ts';

/** Debugging containers are added to a running pod here; nothing else of it can be changed so. */
export const ephemeralContainers: ViewSubresource = {
  access: 'view',
  name: 'ephemeralcontainers',
  served: { group: '', version: 'v1', kind: 'Pod' },
  type: 'core/v1.Pod',
  verbs: ['get', 'patch', 'update'],
  read: (pod) => pod,
  write: addContainers,
  validate: validateEphemeralUpdate,
};

function addContainers(view: ApiObject, old: ApiObject): ApiObject {
  const { uid, resourceVersion } = view.metadata;
  const added = { ephemeralContainers: parts(part(view, 'spec'), 'ephemeralContainers') };
  // Defaults of whole pods are not filled in on writes of views.
  defaultPodSpec(added);
  return {
    ...old,
    metadata: {
      ...old.metadata,
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    spec: { ...part(old, 'spec'), ...added },
  };
}
