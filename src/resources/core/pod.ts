import { part } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { podCells } from '../pod/pod-cells.ts';
import { defaultPodSpec } from '../pod/pod-defaults.ts';
import { podGracePeriod, qosClass, validatePodUpdate } from '../pod/pod-lifecycle.ts';
import { binding, ephemeralContainers, eviction } from '../pod/pod-subresources.ts';

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
  subresources: [binding, ephemeralContainers, eviction],
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
      'status.podIPs': ['status.podIPs'],
      'status.nominatedNodeName': ['status.nominatedNodeName'],
    },
    aliases: { 'spec.host': 'spec.nodeName' },
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
    defaults: (pod) => {
      const spec = part(pod, 'spec');
      defaultPodSpec(spec);
      spec.enableServiceLinks ??= true;
    },
    prepareForCreate: (pod) => {
      pod.status = { phase: 'Pending', qosClass: qosClass(part(pod, 'spec')) };
    },
    validateUpdate: validatePodUpdate,
    gracePeriodSeconds: podGracePeriod,
  },
});
