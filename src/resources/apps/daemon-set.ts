import type { DaemonSet, DaemonSetSpec, RollingUpdateDaemonSet } from '../../api/types/apps/v1.ts';
import { equal } from '../../object/equality.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { age, containerCells, labelsText, selectorText } from '../cells.ts';
import { column, define, nameColumn, type Table } from '../define.ts';
import { defaultPodTemplate } from '../pod/defaults.ts';
import { POD_RATCHETS, validatePodTemplate } from '../pod/validation/pod.ts';
import { checked, checkedUpdate, whenSpecChanged } from '../rules/checked.ts';
import { goIntOrString, goLabelSelector } from '../rules/go-structs.ts';
import { mustKeepSelector } from '../rules/immutable.ts';
import { mustBeLabelSelector } from '../rules/labels.ts';
import {
  isZeroIntOrPercent,
  mustAllBeNonNegative,
  mustBeAtMostAll,
  mustBeIntOrPercent,
} from '../rules/numbers.ts';
import { mustNotForgetCollisions } from '../workload/replicas.ts';
import {
  isEmptySelector,
  mustMatchSelector,
  mustRunForEver,
  SPEC_TEMPLATE,
  templateWarnings,
} from '../workload/workload-template.ts';

const table: Table<DaemonSet> = {
  columns: [
    nameColumn(),
    ...['Desired', 'Current', 'Ready', 'Up-to-date', 'Available'].map((name) => column(name, 0, 'integer')),
    column('Node Selector'),
    column('Age'),
    column('Containers', 1),
    column('Images', 1),
    column('Selector', 1),
  ],
  cells: (set, now) => {
    const { metadata, spec = {}, status = {} } = set;
    return [
      metadata.name ?? '',
      status.desiredNumberScheduled ?? 0,
      status.currentNumberScheduled ?? 0,
      status.numberReady ?? 0,
      status.updatedNumberScheduled ?? 0,
      status.numberAvailable ?? 0,
      labelsText(spec.template?.spec?.nodeSelector ?? {}),
      age(set, now),
      ...containerCells(spec.template?.spec ?? {}),
      selectorText(spec.selector ?? {}),
    ];
  },
};

const EMPTY_STATUS = {
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0,
};

export const daemonsets = define<DaemonSet>({
  group: 'apps',
  resource: 'daemonsets',
  kind: 'DaemonSet',
  namespaced: true,
  shortNames: ['ds'],
  categories: ['all'],
  versions: [{ version: 'v1', type: 'apps/v1.DaemonSet' }],
  emptyStatus: EMPTY_STATUS,
  prepareStatus: (set, old) => setTemplateGeneration(set, templateGeneration(old)),
  validateStatus: checkedUpdate(validateStatus),
  table,
  podTemplate: SPEC_TEMPLATE,
  ratchets: POD_RATCHETS,
  strategy: {
    tracksGeneration: true,
    defaults: setDefaults,
    prepareForCreate: (set) => {
      set.status = { ...EMPTY_STATUS };
      setTemplateGeneration(set, Math.max(1, templateGeneration(set)));
    },
    prepareForUpdate: (set, old) => {
      const changed = !equal(set.spec?.template, old.spec?.template);
      setTemplateGeneration(set, templateGeneration(old) + (changed ? 1 : 0));
    },
    validate: checked(whenSpecChanged(validate)),
    validateUpdate: checkedUpdate((at, { spec = {} }, old) =>
      mustKeepSelector(at.field('spec'), spec, old.spec ?? {}),
    ),
    warnings: templateWarnings,
  },
});

function setDefaults(set: DaemonSet): void {
  // A write of the whole object owns the annotation too, as in Kubernetes.
  setTemplateGeneration(set, templateGeneration(set));
  const { spec = {} } = set;
  defaultPodTemplate(spec);
  const { updateStrategy: update = {} } = spec;
  if (update.type === 'RollingUpdate') {
    update.rollingUpdate = { maxUnavailable: 1, maxSurge: 0, ...update.rollingUpdate };
  }
}

/** A field of the spec in versions that are gone; in v1 it lives on as an annotation, which the controller still reads. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

function templateGeneration({ metadata }: DaemonSet): number {
  const value = Number(metadata.annotations?.[TEMPLATE_GENERATION] ?? 0);
  return Number.isSafeInteger(value) ? value : 0;
}

function setTemplateGeneration({ metadata }: DaemonSet, generation: number): void {
  metadata.annotations = { ...metadata.annotations, [TEMPLATE_GENERATION]: String(generation) };
}

function validate(root: FieldPath, { spec = {} }: DaemonSet): void {
  const at = root.field('spec');
  const { template = {}, updateStrategy = {} } = spec;
  validateSelection(at, spec);
  validatePodTemplate(at.field('template'), template);
  mustRunForEver(at.field('template'), template, 'DaemonSet');
  mustAllBeNonNegative(at, spec, ['minReadySeconds', 'revisionHistoryLimit']);
  if (updateStrategy.type === 'RollingUpdate')
    validateRollingUpdate(
      at.field('updateStrategy').field('rollingUpdate'),
      updateStrategy.rollingUpdate ?? {},
    );
}

function validateSelection(at: FieldPath, { selector, template = {} }: DaemonSetSpec): void {
  const path = at.field('selector');
  const foundBefore = at.found;
  mustBeLabelSelector(path, selector);
  if (at.found === foundBefore) mustMatchSelector(at.field('template'), template, selector);
  if (selector !== undefined && isEmptySelector(selector))
    path.invalid(goLabelSelector(selector), 'empty selector is invalid for daemonset');
}

/** A node's old pod is removed first, or its new pod is added first, so one number must be zero. */
function validateRollingUpdate(at: FieldPath, { maxUnavailable, maxSurge }: RollingUpdateDaemonSet): void {
  const unavailable = at.field('maxUnavailable');
  const surge = at.field('maxSurge');
  mustBeIntOrPercent(unavailable, maxUnavailable);
  mustBeIntOrPercent(surge, maxSurge);
  mustBeAtMostAll(unavailable, maxUnavailable);
  mustBeAtMostAll(surge, maxSurge);
  const isZeroSurge = isZeroIntOrPercent(maxSurge);
  const isZeroUnavailable = isZeroIntOrPercent(maxUnavailable);
  if (isZeroUnavailable && isZeroSurge) unavailable.required('cannot be 0 when maxSurge is 0');
  if (!isZeroUnavailable && !isZeroSurge)
    surge.invalid(goIntOrString(maxSurge), 'may not be set when maxUnavailable is non-zero');
}

function validateStatus(root: FieldPath, { status = {} }: DaemonSet, old: DaemonSet): void {
  const at = root.field('status');
  mustAllBeNonNegative(at, status, [
    'currentNumberScheduled',
    'numberMisscheduled',
    'desiredNumberScheduled',
    'numberReady',
    'observedGeneration',
    'updatedNumberScheduled',
    'numberAvailable',
    'numberUnavailable',
    'collisionCount',
  ]);
  mustNotForgetCollisions(at, status, old.status ?? {});
}
