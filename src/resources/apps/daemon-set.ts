import { age, containerCells, count, labelsText, part, selectorText } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { defaultPodTemplate } from '../pod/pod-defaults.ts';

export const daemonsets = define({
  group: 'apps',
  resource: 'daemonsets',
  kind: 'DaemonSet',
  namespaced: true,
  shortNames: ['ds'],
  categories: ['all'],
  versions: [{ version: 'v1', type: 'apps/v1.DaemonSet' }],
  emptyStatus: {
    currentNumberScheduled: 0,
    numberMisscheduled: 0,
    desiredNumberScheduled: 0,
    numberReady: 0,
  },
  table: {
    columns: [
      nameColumn(),
      column('Desired'),
      column('Current'),
      column('Ready'),
      column('Up-to-date'),
      column('Available'),
      column('Node Selector'),
      column('Age'),
      column('Containers', 1),
      column('Images', 1),
      column('Selector', 1),
    ],
    cells: (set, now) => {
      const spec = part(set, 'spec');
      const status = part(set, 'status');
      return [
        set.metadata.name ?? '',
        count(status.desiredNumberScheduled),
        count(status.currentNumberScheduled),
        count(status.numberReady),
        count(status.updatedNumberScheduled),
        count(status.numberAvailable),
        labelsText(part(spec, 'template', 'spec', 'nodeSelector')),
        age(set, now),
        ...containerCells(part(spec, 'template', 'spec')),
        selectorText(part(spec, 'selector')),
      ];
    },
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    defaults: (object) => {
      const spec = part(object, 'spec');
      defaultPodTemplate(spec);
      const update = part(spec, 'updateStrategy');
      update.type ??= 'RollingUpdate';
      if (update.type === 'RollingUpdate') {
        update.rollingUpdate = { maxUnavailable: 1, maxSurge: 0, ...part(update, 'rollingUpdate') };
      }
    },
  },
});
