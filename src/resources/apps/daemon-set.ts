import type { ApiObject } from '../../api/object-meta.ts';
import { equal } from '../../object/equality.ts';
import { count, part } from '../../object/parts.ts';
import { age, containerCells, labelsText, selectorText } from '../cells.ts';
import { column, define, nameColumn, type Table } from '../define.ts';
import { defaultPodTemplate } from '../pod/pod-defaults.ts';
import { POD_RATCHETS } from '../pod/pod-ratchets.ts';
import { validateImmutableSelector } from '../validation/immutable.ts';
import { whenSpecChanged } from '../validation/spec-changed.ts';
import { templateWarnings } from '../workload/template-warnings.ts';
import { validateDaemonSet, validateDaemonSetStatus } from './validate-daemon-set.ts';

const table: Table = {
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
};

const EMPTY_STATUS = {
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0,
};

export const daemonsets = define({
  group: 'apps',
  resource: 'daemonsets',
  kind: 'DaemonSet',
  namespaced: true,
  shortNames: ['ds'],
  categories: ['all'],
  versions: [{ version: 'v1', type: 'apps/v1.DaemonSet' }],
  emptyStatus: EMPTY_STATUS,
  prepareStatus: (set, old) => setTemplateGeneration(set, templateGeneration(old)),
  validateStatus: validateDaemonSetStatus,
  table,
  ratchets: POD_RATCHETS,
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    defaults: defaultDaemonSet,
    prepareForCreate: (set) => {
      set.status = { ...EMPTY_STATUS };
      setTemplateGeneration(set, Math.max(1, templateGeneration(set)));
    },
    prepareForUpdate: (set, old) => {
      const changed = !equal(part(set, 'spec').template, part(old, 'spec').template);
      setTemplateGeneration(set, templateGeneration(old) + (changed ? 1 : 0));
    },
    validate: whenSpecChanged(validateDaemonSet),
    validateUpdate: (set, old) => validateImmutableSelector(part(set, 'spec'), part(old, 'spec')),
    warnings: templateWarnings,
  },
});

function defaultDaemonSet(set: ApiObject): void {
  const spec = part(set, 'spec');
  defaultPodTemplate(spec);
  const update = part(spec, 'updateStrategy');
  update.type ??= 'RollingUpdate';
  if (update.type === 'RollingUpdate') {
    update.rollingUpdate = { maxUnavailable: 1, maxSurge: 0, ...part(update, 'rollingUpdate') };
  }
}

/** A field of the spec in versions that are gone; in v1 it lives on as an annotation, which the controller still reads. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

function templateGeneration({ metadata }: ApiObject): number {
  const value = Number(metadata.annotations?.[TEMPLATE_GENERATION] ?? 0);
  return Number.isSafeInteger(value) ? value : 0;
}

function setTemplateGeneration({ metadata }: ApiObject, generation: number): void {
  metadata.annotations = { ...metadata.annotations, [TEMPLATE_GENERATION]: String(generation) };
}
