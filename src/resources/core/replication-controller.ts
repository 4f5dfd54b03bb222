import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { required } from '../../object/field-errors.ts';
import { part } from '../../object/parts.ts';
import { labelsText } from '../cells.ts';
import { define } from '../define.ts';
import { defaultPodTemplate } from '../pod/pod-defaults.ts';
import { POD_RATCHETS } from '../pod/pod-ratchets.ts';
import { validatePodTemplate } from '../pod/validation/pod-template.ts';
import { scaleOf } from '../scale.ts';
import { validateCounts } from '../validation/numbers.ts';
import { replicaTable } from '../workload/replica-table.ts';
import { validateLastingPods, validateTemplateLabels } from '../workload/selected-template.ts';
import { nameAndTemplateWarnings } from '../workload/template-warnings.ts';
import { validateReplicaStatus } from '../workload/validate-status.ts';

export const replicationcontrollers = define({
  group: '',
  resource: 'replicationcontrollers',
  kind: 'ReplicationController',
  namespaced: true,
  shortNames: ['rc'],
  categories: ['all'],
  versions: [{ version: 'v1', type: 'core/v1.ReplicationController' }],
  emptyStatus: { replicas: 0 },
  validateStatus: validateReplicaStatus,
  subresources: [scaleOf()],
  table: replicaTable(labelsText),
  fields: {
    paths: {
      'status.replicas': ['status.replicas'],
    },
  },
  ratchets: POD_RATCHETS,
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    defaultPropagation: 'orphan',
    defaults: defaultController,
    validate: validateController,
    warnings: nameAndTemplateWarnings,
  },
});

/** Its selector and its own labels are those of its pods, unless it has others. */
function defaultController(controller: ApiObject): void {
  const spec = part(controller, 'spec');
  defaultPodTemplate(spec);
  const labels = part(spec, 'template', 'metadata', 'labels') as Record<string, string>;
  if (Object.keys(labels).length === 0) return;
  if (Object.keys(part(spec, 'selector')).length === 0) spec.selector = { ...labels };
  const { metadata } = controller;
  if (Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
}

function validateController(controller: ApiObject): FieldError[] {
  const spec = part(controller, 'spec');
  const selector = part(spec, 'selector');
  return [
    ...validateCounts(spec, ['minReadySeconds', 'replicas'], 'spec'),
    ...(Object.keys(selector).length === 0 ? [required('spec.selector')] : []),
    ...(spec.template === undefined ? [required('spec.template')] : validateTemplate(spec)),
  ];
}

function validateTemplate(spec: JsonObject): FieldError[] {
  const template = part(spec, 'template');
  return [
    ...validateTemplateLabels({ matchLabels: part(spec, 'selector') }, template),
    ...validatePodTemplate(template, 'spec.template'),
    ...validateLastingPods(template, 'ReplicationController'),
  ];
}
