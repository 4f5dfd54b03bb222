import { defaultGates, type Gates, minorOf } from '../../api/feature-gates.ts';
import type {
  StatefulSet,
  StatefulSetPersistentVolumeClaimRetentionPolicy,
  StatefulSetSpec,
  StatefulSetUpdateStrategy,
} from '../../api/types/apps/v1.ts';
import type { PersistentVolumeClaim } from '../../api/types/core/v1.ts';
import { equalExcept } from '../../object/equality.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { goStruct, goText, shownJson } from '../../object/go-value.ts';
import { age, containerCells } from '../cells.ts';
import { validateClaimSpec } from '../core/persistent-volume-claim/validate.ts';
import { column, define, nameColumn, type Table } from '../define.ts';
import { defaultPodTemplate } from '../pod/defaults.ts';
import { POD_RATCHETS, validatePodTemplate } from '../pod/validation/pod.ts';
import { checked, checkedUpdate, ratchetOf, whenSpecChanged } from '../rules/checked.ts';
import { goIntOrString, goLabelSelector } from '../rules/go-structs.ts';
import { mustBeLabels } from '../rules/labels.ts';
import { mustBeName } from '../rules/name-rules.ts';
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
import {
  mustMatchSelector,
  mustRunForEver,
  mustSelectPods,
  SPEC_TEMPLATE,
  templateWarnings,
} from '../workload/workload-template.ts';

const table: Table<StatefulSet> = {
  columns: [nameColumn(), column('Ready'), column('Age'), column('Containers', 1), column('Images', 1)],
  cells: (set, now) => {
    const { metadata, spec = {}, status = {} } = set;
    return [
      metadata.name ?? '',
      `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
      age(set, now),
      ...containerCells(spec.template?.spec ?? {}),
    ];
  },
};

export const statefulsets = define<StatefulSet>({
  group: 'apps',
  resource: 'statefulsets',
  kind: 'StatefulSet',
  namespaced: true,
  shortNames: ['sts'],
  categories: ['all'],
  versions: [{ version: 'v1', type: 'apps/v1.StatefulSet' }],
  emptyStatus: { replicas: 0, availableReplicas: 0 },
  validateStatus: checkedUpdate(validateStatus),
  subresources: [scaleOf()],
  table,
  podTemplate: SPEC_TEMPLATE,
  ratchets: [
    ...POD_RATCHETS,
    // Since Kubernetes 1.33 and 1.34.
    ratchetOf(/^spec\.serviceName$/),
    ratchetOf(/^spec\.(template\.|volumeClaimTemplates\[)/),
  ],
  strategy: {
    // The name becomes part of host names, which know no dots.
    nameRule: 'dns-label',
    tracksGeneration: true,
    defaults: setDefaults,
    prepareForCreate: (set) => {
      set.status = { replicas: 0, availableReplicas: 0 };
    },
    validate: checked(whenSpecChanged(validate)),
    judgesAlone: (isOn = defaultGates) => (judgesParts(isOn) ? [] : PARTS),
    validateUpdate: checkedUpdate(validateUpdate),
    warnings,
  },
});

function warnings(set: StatefulSet, old: StatefulSet | undefined, isOn: Gates = defaultGates): string[] {
  const found = templateWarnings(set, old, isOn);
  if (minorOf(isOn) >= 33 && (set.spec?.revisionHistoryLimit ?? 0) < 0)
    found.push(
      'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended',
    );
  return found;
}

function setDefaults({ spec = {} }: StatefulSet, isOn: Gates = defaultGates): void {
  defaultPodTemplate(spec);
  const { updateStrategy: update = {}, volumeClaimTemplates: claims = [] } = spec;
  if (update.type === undefined) {
    update.type = 'RollingUpdate';
    update.rollingUpdate ??= { partition: 0 };
  }
  if (
    update.type === 'RollingUpdate' &&
    update.rollingUpdate !== undefined &&
    isOn('MaxUnavailableStatefulSet')
  )
    update.rollingUpdate.maxUnavailable ??= 1;
  if (claims.length > 0) spec.volumeClaimTemplates = claims.map(withTypeAndPhase);
}

/** Clients compare templates with what they wrote, and Kubernetes has always added these three. */
function withTypeAndPhase(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const { kind: _, apiVersion: __, ...rest } = claim;
  const status = { phase: 'Pending', ...claim.status };
  return { kind: 'PersistentVolumeClaim', apiVersion: 'v1', ...rest, status };
}

function validate(root: FieldPath, { spec = {} }: StatefulSet): void {
  const at = root.field('spec');
  const {
    updateStrategy = {},
    persistentVolumeClaimRetentionPolicy = {},
    ordinals = {},
    template = {},
  } = spec;
  validateUpdateStrategy(at.field('updateStrategy').field('rollingUpdate'), updateStrategy);
  validateRetention(at.field('persistentVolumeClaimRetentionPolicy'), persistentVolumeClaimRetentionPolicy);
  mustAllBeNonNegative(at, spec, ['replicas', 'minReadySeconds']);
  mustAllBeNonNegative(at.field('ordinals'), ordinals, ['start']);
  validateTemplate(at, spec);
  mustRunForEver(at.field('template'), template, 'StatefulSet');
}

function validateUpdateStrategy(at: FieldPath, { type, rollingUpdate }: StatefulSetUpdateStrategy): void {
  if (rollingUpdate === undefined) return;
  const { partition = 0, maxUnavailable } = rollingUpdate;
  if (type !== 'OnDelete') {
    mustAllBeNonNegative(at, rollingUpdate, ['partition']);
    if (maxUnavailable !== undefined) validateMaxUnavailable(at.field('maxUnavailable'), maxUnavailable);
    return;
  }
  const struct = goStruct('apps.RollingUpdateStatefulSetStrategy', {
    Partition: partition,
    MaxUnavailable: goText('(*intstr.IntOrString)(nil)', shownJson(maxUnavailable)),
  });
  at.invalid(struct, "only allowed for updateStrategy 'RollingUpdate'");
}

function validateMaxUnavailable(at: FieldPath, most: number | string): void {
  mustBeIntOrPercent(at, most);
  if (isZeroIntOrPercent(most)) at.invalid(goIntOrString(most), 'cannot be 0');
  mustBeAtMostAll(at, most);
}

const RETENTIONS = ['Retain', 'Delete'];

function validateRetention(
  at: FieldPath,
  { whenDeleted, whenScaled }: StatefulSetPersistentVolumeClaimRetentionPolicy,
): void {
  if (whenDeleted !== undefined && !RETENTIONS.includes(whenDeleted))
    at.field('whenDeleted').notSupported(whenDeleted, RETENTIONS);
  if (whenScaled !== undefined && !RETENTIONS.includes(whenScaled))
    at.field('whenScaled').notSupported(whenScaled, RETENTIONS);
}

const PARTS = ['spec.template', 'spec.volumeClaimTemplates'];

/** Kubernetes judges the pods and claims of a set since 1.34; before, it looks at the labels alone. */
const judgesParts = (isOn: Gates): boolean => minorOf(isOn) >= 34;

function validateTemplate(at: FieldPath, spec: StatefulSetSpec): void {
  const { selector, template = {}, serviceName = '' } = spec;
  const { minor } = at;
  if (minor >= 33 && serviceName !== '') mustBeName(at.field('serviceName'), serviceName, 'dns-label');
  if (judgesParts(at.isOn)) validateParts(at, spec);
  if (!mustSelectPods(at.field('selector'), selector, 'statefulset')) {
    at.field('selector').invalid(goLabelSelector(selector), '');
    return;
  }
  mustMatchSelector(at.field('template'), template, selector);
  if (!judgesParts(at.isOn)) mustBeLabels(at.field('template').field('labels'), template.metadata?.labels);
}

/** The set itself names its pods, and gives them volumes of its claims. */
function validateParts(
  at: FieldPath,
  { template = {}, volumeClaimTemplates: claims = [] }: StatefulSetSpec,
): void {
  const { hostname: _, subdomain: __, ...spec } = template.spec ?? {};
  const names = new Set(claims.map(({ metadata }) => metadata?.name));
  const ofClaims = claims.map(({ metadata: { name = '' } = {} }) => ({
    name,
    persistentVolumeClaim: { claimName: name },
  }));
  const own = (spec.volumes ?? []).filter(({ name }) => !names.has(name));
  const volumes = claims.length === 0 ? spec.volumes : [...ofClaims, ...own];
  validatePodTemplate(at.field('template'), {
    ...template,
    spec: volumes === undefined ? spec : { ...spec, volumes },
  });
  for (const [path, claim] of at.field('volumeClaimTemplates').each(claims))
    validateClaimSpec(path.field('spec'), claim.spec ?? {});
}

const MUTABLE = [
  'replicas',
  'template',
  'updateStrategy',
  'minReadySeconds',
  'ordinals',
  'persistentVolumeClaimRetentionPolicy',
];

function validateUpdate(root: FieldPath, { spec = {} }: StatefulSet, old: StatefulSet): void {
  const hasLimit = root.minor >= 33;
  if (equalExcept(spec, old.spec ?? {}, hasLimit ? [...MUTABLE, 'revisionHistoryLimit'] : MUTABLE)) return;
  const limit = hasLimit ? "'revisionHistoryLimit', " : '';
  root
    .field('spec')
    .forbidden(
      `updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', ${limit}'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden`,
    );
}

function validateStatus(root: FieldPath, { status = {} }: StatefulSet, old: StatefulSet): void {
  const at = root.field('status');
  const shares = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'] as const;
  mustAllBeNonNegative(at, status, ['replicas', ...shares, 'observedGeneration', 'collisionCount']);
  mustBeSharesOfReplicas(at, status, shares);
  mustBeAvailableOfReady(at, status, 'status.readyReplicas');
  mustNotForgetCollisions(at, status, old.status ?? {});
}
