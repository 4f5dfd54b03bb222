import { podLog } from '../connect/pod-log.ts';
import { podAttach, podExec, podPortForward } from '../connect/pod-streams.ts';
import { podProxy } from '../connect/proxies.ts';
import { column, define, nameColumn } from '../define.ts';
import { binding } from '../pod/binding.ts';
import { ephemeralContainers } from '../pod/ephemeral-containers-view.ts';
import { eviction } from '../pod/eviction.ts';
import { podCells } from '../pod/pod-cells.ts';
import { defaultPod } from '../pod/pod-defaults.ts';
import { podGracePeriod } from '../pod/pod-lifecycle.ts';
import { preparePod, preparePodStatus } from '../pod/pod-preparation.ts';
import { POD_RATCHETS } from '../pod/pod-ratchets.ts';
import { podWarnings } from '../pod/pod-warnings.ts';
import { validateNewPod, validatePod } from '../pod/validation/pod.ts';
import { validatePodStatus } from '../pod/validation/pod-status.ts';
import { validatePodUpdate } from '../pod/validation/pod-update.ts';

/** Pods: admitted here, placed by a scheduler, run by node agents. */
export const pods = define({
  group: '',
  resource: 'pods',
  kind: 'Pod',
  namespaced: true,
  shortNames: ['po'],
  categories: ['all'],
  versions: [{ version: 'v1', type: 'core/v1.Pod' }],
  emptyStatus: { phase: 'Pending', qosClass: 'BestEffort' },
  prepareStatus: preparePodStatus,
  validateStatus: validatePodStatus,
  subresources: [
    podAttach,
    binding,
    ephemeralContainers,
    eviction,
    podExec,
    podLog,
    podPortForward,
    podProxy,
  ],
  table: {
    columns: [
      nameColumn(),
      column('Ready'),
      column('Status'),
      column('Restarts'),
      column('Age'),
      column('IP', 1),
      column('Node', 1),
      column('Nominated Node', 1),
      column('Readiness Gates', 1),
    ],
    cells: podCells,
  },
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
  ratchets: POD_RATCHETS,
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
    defaults: defaultPod,
    prepareForCreate: preparePod,
    validate: validatePod,
    validateCreate: validateNewPod,
    validateUpdate: validatePodUpdate,
    // People seldom write to pods that exist, and everyone else would be told the same again and again.
    warnings: (pod, old) => (old === undefined ? podWarnings(pod) : []),
    gracePeriodSeconds: podGracePeriod,
  },
});
