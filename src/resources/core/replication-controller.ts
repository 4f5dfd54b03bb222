import { age, containerCells, count, labelsText, part } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { defaultPodTemplate } from '../pod/pod-defaults.ts';
import { scaleOf } from '../scale.ts';

export const replicationcontrollers = define({
  group: '',
  resource: 'replicationcontrollers',
  kind: 'ReplicationController',
  namespaced: true,
  shortNames: ['rc'],
  categories: ['all'],
  versions: [{ version: 'v1', type: 'core/v1.ReplicationController' }],
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
    cells: (controller, now) => {
      const spec = part(controller, 'spec');
      const status = part(controller, 'status');
      return [
        controller.metadata.name ?? '',
        count(spec.replicas),
        count(status.replicas),
        count(status.readyReplicas),
        age(controller, now),
        ...containerCells(part(spec, 'template', 'spec')),
        labelsText(part(spec, 'selector')),
      ];
    },
  },
  fields: {
    paths: {
      'status.replicas': ['status.replicas'],
    },
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    defaultPropagation: 'orphan',
    defaults: (object) => {
      const spec = part(object, 'spec');
      defaultPodTemplate(spec);
      const labels = part(spec, 'template', 'metadata', 'labels');
      if (Object.keys(part(spec, 'selector')).length === 0) spec.selector = { ...labels };
    },
  },
});
