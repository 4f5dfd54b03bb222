import { age, containerCells, count, part, selectorText } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { defaultPodTemplate } from '../pod/pod-defaults.ts';
import { scaleOf } from '../scale.ts';

export const deployments = define({
  group: 'apps',
  resource: 'deployments',
  kind: 'Deployment',
  namespaced: true,
  shortNames: ['deploy'],
  categories: ['all'],
  versions: [{ version: 'v1', type: 'apps/v1.Deployment' }],
  emptyStatus: {},
  subresources: [scaleOf()],
  table: {
    columns: [
      nameColumn(),
      column('Ready'),
      column('Up-to-date'),
      column('Available'),
      column('Age'),
      column('Containers', 1),
      column('Images', 1),
      column('Selector', 1),
    ],
    cells: (deployment, now) => {
      const spec = part(deployment, 'spec');
      const status = part(deployment, 'status');
      return [
        deployment.metadata.name ?? '',
        `${count(status.readyReplicas)}/${count(spec.replicas)}`,
        count(status.updatedReplicas),
        count(status.availableReplicas),
        age(deployment, now),
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
      const strategy = part(spec, 'strategy');
      strategy.type ??= 'RollingUpdate';
      if (strategy.type === 'RollingUpdate') {
        strategy.rollingUpdate = {
          maxUnavailable: '25%',
          maxSurge: '25%',
          ...part(strategy, 'rollingUpdate'),
        };
      }
    },
  },
});
