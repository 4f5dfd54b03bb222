import type { ReplicationController, ReplicationControllerSpec } from '../../api/types/core/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { labelsText } from '../cells.ts';
import { define } from '../define.ts';
import { defaultPodTemplate } from '../pod/defaults.ts';
import { POD_RATCHETS, validatePodTemplate } from '../pod/validation/pod.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { mustAllBeNonNegative } from '../rules/numbers.ts';
import { scaleOf } from '../scale.ts';
import { replicaTable, validateReplicaStatus } from '../workload/replicas.ts';
import {
  mustMatchSelector,
  mustRunForEver,
  nameAndTemplateWarnings,
  SPEC_TEMPLATE,
} from '../workload/workload-template.ts';

export const replicationcontrollers = define<ReplicationController>({
  group: '',
  resource: 'replicationcontrollers',
  quotaName: 'replicationcontrollers',
  kind: 'ReplicationController',
  namespaced: true,
  shortNames: ['rc'],
  categories: ['all'],
  versions: [{ version: 'v1', type: 'core/v1.ReplicationController' }],
  emptyStatus: { replicas: 0 },
  validateStatus: checkedUpdate(validateReplicaStatus),
  subresources: [scaleOf()],
  table: replicaTable(({ spec }) => labelsText(spec?.selector ?? {})),
  fields: {
    paths: {
      'status.replicas': ['status.replicas'],
    },
  },
  podTemplate: SPEC_TEMPLATE,
  ratchets: POD_RATCHETS,
  strategy: {
    tracksGeneration: true,
    defaultPropagation: 'orphan',
    defaults: setDefaults,
    validate: checked(validate),
    warnings: nameAndTemplateWarnings,
  },
});

/** Selector and labels default to those of its pods. */
function setDefaults({ metadata, spec = {} }: ReplicationController): void {
  defaultPodTemplate(spec);
  const labels = spec.template?.metadata?.labels ?? {};
  if (Object.keys(labels).length === 0) return;
  if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels };
  if (Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
}

function validate(root: FieldPath, { spec = {} }: ReplicationController): void {
  const at = root.field('spec');
  mustAllBeNonNegative(at, spec, ['minReadySeconds', 'replicas']);
  if (Object.keys(spec.selector ?? {}).length === 0) at.field('selector').required();
  validateTemplate(at.field('template'), spec);
}

function validateTemplate(at: FieldPath, { selector = {}, template }: ReplicationControllerSpec): void {
  if (template === undefined) {
    at.required();
    return;
  }
  mustMatchSelector(at, template, { matchLabels: selector });
  validatePodTemplate(at, template);
  mustRunForEver(at, template, 'ReplicationController');
}
