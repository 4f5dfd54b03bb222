import type {
  Deployment,
  DeploymentSpec,
  DeploymentStrategy,
  RollingUpdateDeployment,
} from '../../api/types/apps/v1.ts';
import { equal } from '../../object/equality.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { nextGeneration } from '../../object/metadata.ts';
import { age, containerCells, selectorText } from '../cells.ts';
import { column, define, nameColumn, type Table } from '../define.ts';
import { defaultPodTemplate } from '../pod/defaults.ts';
import { POD_RATCHETS } from '../pod/validation/pod.ts';
import { checked, checkedUpdate, whenSpecChanged } from '../rules/checked.ts';
import { goIntOrString } from '../rules/go-structs.ts';
import { mustKeepSelector } from '../rules/immutable.ts';
import {
  isZeroIntOrPercent,
  mustAllBeNonNegative,
  mustBeAtMostAll,
  mustBeIntOrPercent,
} from '../rules/numbers.ts';
import { scaleOf } from '../scale.ts';
import {
  mustBeAvailableOfReady,
  mustBeSharesOfReplicas,
  mustNotForgetCollisions,
} from '../workload/replicas.ts';
import { mustMakeReplicas, nameAndTemplateWarnings, SPEC_TEMPLATE } from '../workload/workload-template.ts';

const table: Table<Deployment> = {
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
    const { metadata, spec = {}, status = {} } = deployment;
    return [
      metadata.name ?? '',
      `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
      status.updatedReplicas ?? 0,
      status.availableReplicas ?? 0,
      age(deployment, now),
      ...containerCells(spec.template?.spec ?? {}),
      selectorText(spec.selector ?? {}),
    ];
  },
};

export const deployments = define<Deployment>({
  group: 'apps',
  resource: 'deployments',
  kind: 'Deployment',
  namespaced: true,
  shortNames: ['deploy'],
  categories: ['all'],
  versions: [{ version: 'v1', type: 'apps/v1.Deployment' }],
  emptyStatus: {},
  statusResets: [['spec'], ['metadata', 'labels']],
  validateStatus: checkedUpdate(validateStatus),
  subresources: [scaleOf()],
  table,
  podTemplate: SPEC_TEMPLATE,
  ratchets: POD_RATCHETS,
  strategy: {
    tracksGeneration: true,
    defaults: setDefaults,
    prepareForUpdate: countAnnotations,
    validate: checked(whenSpecChanged(validate)),
    validateUpdate: checkedUpdate((at, { spec = {} }, old) =>
      mustKeepSelector(at.field('spec'), spec, old.spec ?? {}),
    ),
    warnings: nameAndTemplateWarnings,
  },
});

function setDefaults({ spec = {} }: Deployment): void {
  defaultPodTemplate(spec);
  const { strategy = {} } = spec;
  if (strategy.type === 'RollingUpdate') {
    strategy.rollingUpdate = { maxUnavailable: '25%', maxSurge: '25%', ...strategy.rollingUpdate };
  }
}

/** The controller copies annotations to its ReplicaSets, so that a change of them is a change it must observe. */
function countAnnotations({ metadata }: Deployment, old: Deployment): void {
  if (equal(metadata.annotations ?? {}, old.metadata.annotations ?? {})) return;
  metadata.generation = nextGeneration(old.metadata);
}

function validate(root: FieldPath, { spec = {} }: Deployment): void {
  const at = root.field('spec');
  mustAllBeNonNegative(at, spec, [
    'replicas',
    'minReadySeconds',
    'revisionHistoryLimit',
    'progressDeadlineSeconds',
  ]);
  mustMakeReplicas(at, spec);
  validateStrategy(at.field('strategy'), spec.strategy ?? {});
  validateDeadline(at.field('progressDeadlineSeconds'), spec);
}

function validateStrategy(at: FieldPath, { type, rollingUpdate }: DeploymentStrategy): void {
  const path = at.field('rollingUpdate');
  if (type === 'Recreate' && rollingUpdate !== undefined)
    path.forbidden("may not be specified when strategy `type` is 'Recreate'");
  if (type === 'RollingUpdate') validateRollingUpdate(path, rollingUpdate ?? {});
}

/** If both are zero, the rollout cannot proceed. */
function validateRollingUpdate(at: FieldPath, { maxUnavailable, maxSurge }: RollingUpdateDeployment): void {
  const unavailable = at.field('maxUnavailable');
  mustBeIntOrPercent(unavailable, maxUnavailable);
  mustBeIntOrPercent(at.field('maxSurge'), maxSurge);
  if (isZeroIntOrPercent(maxUnavailable) && isZeroIntOrPercent(maxSurge))
    unavailable.invalid(goIntOrString(maxUnavailable), 'may not be 0 when `maxSurge` is 0');
  mustBeAtMostAll(unavailable, maxUnavailable);
}

/** Pods would be reported as late before they can count as available. */
function validateDeadline(at: FieldPath, spec: DeploymentSpec): void {
  const { progressDeadlineSeconds: deadline, minReadySeconds = 0 } = spec;
  if (deadline !== undefined && deadline <= minReadySeconds)
    at.invalid(deadline, 'must be greater than minReadySeconds');
}

function validateStatus(root: FieldPath, { status = {} }: Deployment, old: Deployment): void {
  const at = root.field('status');
  mustAllBeNonNegative(at, status, [
    'observedGeneration',
    'replicas',
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
    'unavailableReplicas',
    'terminatingReplicas',
    'collisionCount',
  ]);
  mustBeSharesOfReplicas(at, status, ['updatedReplicas', 'readyReplicas', 'availableReplicas']);
  mustBeAvailableOfReady(at, status, 'readyReplicas');
  mustNotForgetCollisions(at, status, old.status ?? {});
}
