import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equalExcept } from '../../object/equality.ts';
import { forbiddenField, notSupported } from '../../object/field-errors.ts';
import { count, part, text } from '../../object/parts.ts';
import { validateLabels } from '../../registry/validate-metadata.ts';
import { validateLabelSelector } from '../validation/label-selector.ts';
import { goLabelSelector, invalidShown } from '../validation/notation.ts';
import { validateCounts } from '../validation/numbers.ts';
import {
  selectorOf,
  validateLastingPods,
  validateSelector,
  validateTemplateLabels,
} from '../workload/selected-template.ts';
import { validateAvailable, validateCollisionCount, validateShares } from '../workload/validate-status.ts';

export function validateStatefulSet(set: ApiObject): FieldError[] {
  const spec = part(set, 'spec');
  return [
    ...validateUpdateStrategy(part(spec, 'updateStrategy')),
    ...validateRetention(spec),
    ...validateCounts(spec, ['replicas', 'minReadySeconds'], 'spec'),
    ...validateCounts(part(spec, 'ordinals'), ['start'], 'spec.ordinals'),
    ...validateTemplate(spec),
    ...validateLastingPods(part(spec, 'template'), 'StatefulSet'),
  ];
}

function validateUpdateStrategy({ type, rollingUpdate }: JsonObject): FieldError[] {
  if (rollingUpdate === undefined) return [];
  const path = 'spec.updateStrategy.rollingUpdate';
  const update = part({ rollingUpdate }, 'rollingUpdate');
  if (type !== 'OnDelete') return validateCounts(update, ['partition'], path);
  const shown = `apps.RollingUpdateStatefulSetStrategy{Partition:${count(update.partition)}, MaxUnavailable:(*intstr.IntOrString)(nil)}`;
  return [invalidShown(path, shown, "only allowed for updateStrategy 'RollingUpdate'")];
}

const RETENTIONS = ['Retain', 'Delete'];

function validateRetention(spec: JsonObject): FieldError[] {
  const retention = part(spec, 'persistentVolumeClaimRetentionPolicy');
  return ['whenDeleted', 'whenScaled']
    .filter((when) => retention[when] !== undefined && !RETENTIONS.includes(text(retention[when])))
    .map((when) =>
      notSupported(`spec.persistentVolumeClaimRetentionPolicy.${when}`, text(retention[when]), RETENTIONS),
    );
}

/**
 * Volumes of the template may come from claims, so that its pods cannot be judged before they are made; Kubernetes looks at
 * the labels alone.
 */
function validateTemplate(spec: JsonObject): FieldError[] {
  const selector = selectorOf(spec);
  const template = part(spec, 'template');
  const errors = validateSelector(selector, 'statefulset');
  if (selector !== undefined && validateLabelSelector(selector, '').length > 0) {
    return [...errors, invalidShown('spec.selector', goLabelSelector(selector), '')];
  }
  const labels = part(template, 'metadata', 'labels') as Record<string, string>;
  return [
    ...errors,
    ...validateTemplateLabels(selector, template),
    ...validateLabels(labels, 'spec.template.labels'),
  ];
}

const MUTABLE = [
  'replicas',
  'template',
  'updateStrategy',
  'minReadySeconds',
  'ordinals',
  'persistentVolumeClaimRetentionPolicy',
];

export function validateStatefulSetUpdate(set: ApiObject, old: ApiObject): FieldError[] {
  if (equalExcept(part(set, 'spec'), part(old, 'spec'), MUTABLE)) return [];
  return [
    forbiddenField(
      'spec',
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    ),
  ];
}

const STATUS_SHARES = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'];
const STATUS_COUNTS = ['replicas', ...STATUS_SHARES, 'observedGeneration', 'collisionCount'];

export function validateStatefulSetStatus(set: ApiObject, old: ApiObject): FieldError[] {
  const status = part(set, 'status');
  return [
    ...validateCounts(status, STATUS_COUNTS, 'status'),
    ...validateShares(status, STATUS_SHARES),
    ...validateAvailable(status, 'status.readyReplicas'),
    ...validateCollisionCount(set, old),
  ];
}
