import type { Pod } from '../../api/types/core/v1.ts';
import type { ViewSubresource } from '../../registry/resource-definition.ts';
import { checkedUpdate } from '../rules/checked.ts';
import { defaultPodSpec } from './defaults.ts';
import { validateEphemeralUpdate } from './validation/validate-ephemeral-containers.ts';

/** Adds debugging containers to a running pod, without other changes. */
export const ephemeralContainers: ViewSubresource<Pod> = {
  access: 'view',
  name: 'ephemeralcontainers',
  served: { group: '', version: 'v1', kind: 'Pod' },
  type: 'core/v1.Pod',
  verbs: ['get', 'patch', 'update'],
  read: (pod) => pod,
  write: addContainers,
  validate: checkedUpdate(validateEphemeralUpdate),
};

function addContainers(view: Pod, old: Pod): Pod {
  const { uid, resourceVersion } = view.metadata;
  const added = { ephemeralContainers: view.spec?.ephemeralContainers ?? [] };
  // Defaults of whole pods are not filled in on writes of views.
  defaultPodSpec(added);
  return {
    ...old,
    metadata: {
      ...old.metadata,
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    spec: { ...old.spec, ...added },
  };
}
