import type { ApiObject } from '../../api/object-meta.ts';
import { equal } from '../../object/equality.ts';
import { nextGeneration } from '../../object/generation.ts';
import { count, part } from '../../object/parts.ts';
import { age, containerCells, selectorText } from '../cells.ts';
import { column, define, nameColumn, type Table } from '../define.ts';
import { defaultPodTemplate } from '../pod/pod-defaults.ts';
import { POD_RATCHETS } from '../pod/pod-ratchets.ts';
import { scaleOf } from '../scale.ts';
import { validateImmutableSelector } from '../validation/immutable.ts';
import { whenSpecChanged } from '../validation/spec-changed.ts';
import { nameAndTemplateWarnings } from '../workload/template-warnings.ts';
import { validateDeployment, validateDeploymentStatus } from './validate-deployment.ts';

const table: Table = {
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
};

export const deployments = define({
  group: 'apps',
  resource: 'deployments',
  kind: 'Deployment',
  namespaced: true,
  shortNames: ['deploy'],
  categories: ['all'],
  versions: [{ version: 'v1', type: 'apps/v1.Deployment' }],
  emptyStatus: {},
  statusResets: [['spec'], ['metadata', 'labels']],
  validateStatus: validateDeploymentStatus,
  subresources: [scaleOf()],
  table,
  ratchets: POD_RATCHETS,
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    defaults: defaultDeployment,
    prepareForUpdate: countAnnotations,
    validate: whenSpecChanged(validateDeployment),
    validateUpdate: (deployment, old) =>
      validateImmutableSelector(part(deployment, 'spec'), part(old, 'spec')),
    warnings: nameAndTemplateWarnings,
  },
});

function defaultDeployment(deployment: ApiObject): void {
  const spec = part(deployment, 'spec');
  defaultPodTemplate(spec);
  const strategy = part(spec, 'strategy');
  strategy.type ??= 'RollingUpdate';
  if (strategy.type === 'RollingUpdate') {
    strategy.rollingUpdate = { maxUnavailable: '25%', maxSurge: '25%', ...part(strategy, 'rollingUpdate') };
  }
  spec.strategy = strategy;
}

/** The controller copies annotations to its ReplicaSets, so that a change of them is a change it must observe. */
function countAnnotations(deployment: ApiObject, old: ApiObject): void {
  const { metadata } = deployment;
  if (equal(metadata.annotations ?? {}, old.metadata.annotations ?? {})) return;
  metadata.generation = nextGeneration(old.metadata);
}
