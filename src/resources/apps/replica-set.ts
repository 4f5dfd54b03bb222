import { age, containerCells, count, part, selectorText } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { defaultPodTemplate } from '../pod/pod-defaults.ts';
import { scaleOf } from '../scale.ts';

export const replicasets = define({
  group: 'apps',
  resource: 'replicasets',
  kind: 'ReplicaSet',
  namespaced: true,
  shortNames: ['rs'],
  categories: ['all'],
  versions: [{ version: 'v1', type: 'apps/v1.ReplicaSet' }],
  emptyStatus: { replicas: 0 },
  subresources: [scaleOf()],
  table: {
    columns: [
      nameColumn(),
      column('Desired'),
      column('Current'),
      column('Ready'),
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
        count(spec.replicas),
        count(status.replicas),
        count(status.readyReplicas),
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
    },
  },
});
