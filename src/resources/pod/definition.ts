import type { Pod } from '../../api/types/core/v1.ts';
import { podAttach, podExec, podLog, podPortForward } from '../connect/pod-streams.ts';
import { podProxy } from '../connect/proxies.ts';
import { define } from '../define.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { binding } from './binding.ts';
import { defaultPod } from './defaults.ts';
import { ephemeralContainers } from './ephemeral-containers.ts';
import { eviction } from './eviction.ts';
import {
  POD_GENERATION,
  podGracePeriod,
  preparePod,
  preparePodStatus,
  prepareUpdate,
} from './preparation.ts';
import { resize } from './resize.ts';
import { olderTable, table } from './table.ts';
import { POD_RATCHETS, validateNewPod, validatePod } from './validation/pod.ts';
import { validatePodStatus } from './validation/pod-status.ts';
import { validatePodUpdate } from './validation/pod-update.ts';
import { podStatusWarnings, podWarnings, sentPodWarnings } from './warnings.ts';

/** Pods: admitted here, placed by a scheduler, run by node agents. */
export const pods = define<Pod>({
  group: '',
  resource: 'pods',
  kind: 'Pod',
  namespaced: true,
  shortNames: ['po'],
  categories: ['all'],
  versions: [{ version: 'v1', type: 'core/v1.Pod' }],
  emptyStatus: { phase: 'Pending', qosClass: 'BestEffort' },
  prepareStatus: preparePodStatus,
  validateStatus: checkedUpdate(validatePodStatus),
  statusWarnings: podStatusWarnings,
  subresources: [
    podAttach,
    binding,
    ephemeralContainers,
    eviction,
    podExec,
    podLog,
    podPortForward,
    podProxy,
    resize,
  ],
  table,
  olderTables: [olderTable],
  fields: {
    paths: {
      'spec.nodeName': ['spec.nodeName'],
      'spec.restartPolicy': ['spec.restartPolicy'],
      'spec.schedulerName': ['spec.schedulerName'],
      'spec.serviceAccountName': ['spec.serviceAccountName'],
      'spec.hostNetwork': ['spec.hostNetwork'],
      'status.phase': ['status.phase'],
      'status.podIP': ['status.podIPs.0.ip'],
      // Known as a label, but no pod has a value for it.
      'status.podIPs': [],
      'status.nominatedNodeName': ['status.nominatedNodeName'],
    },
    absent: { 'spec.hostNetwork': 'false' },
    aliases: { 'spec.host': 'spec.nodeName' },
    // Each kubelet lists and watches the pods of its own node (Kubernetes has an index for the same).
    indexed: ['spec.nodeName'],
  },
  podTemplate: { path: 'spec', read: (pod) => pod },
  ratchets: POD_RATCHETS,
  strategy: {
    returnsDeletedObject: true,
    defaults: defaultPod,
    prepareForCreate: preparePod,
    warningsAsSent: sentPodWarnings,
    prepareForUpdate: prepareUpdate,
    tracksGeneration: POD_GENERATION,
    validate: checked(validatePod),
    validateCreate: checked(validateNewPod),
    validateUpdate: checkedUpdate(validatePodUpdate),
    // Only on creation: controllers and kubelets would get the same warnings repeatedly.
    warnings: (pod, old, isOn) => (old === undefined ? podWarnings(pod, isOn) : []),
    gracePeriodSeconds: podGracePeriod,
  },
});
