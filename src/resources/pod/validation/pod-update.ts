import type { ApiObject, JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { equal, equalExcept } from '../../../object/equality.ts';
import { forbiddenField, invalidValue } from '../../../object/field-errors.ts';
import { part, parts, text } from '../../../object/parts.ts';
import { qosClass } from '../../../object/pod-qos.ts';
import { qosClassOf } from '../qos.ts';
import { validatePodAnnotationsUpdate } from './annotations.ts';
import { validateGatedPlacement } from './gated-placement.ts';

/** What may change in a pod once it exists (Kubernetes: core/validation, ValidatePodUpdate). */
export function validatePodUpdate(pod: ApiObject, old: ApiObject): FieldError[] {
  const spec = part(pod, 'spec');
  const before = part(old, 'spec');
  const errors = validatePodAnnotationsUpdate(
    pod.metadata.annotations ?? {},
    old.metadata.annotations ?? {},
    'metadata.annotations',
  );
  if (equal(spec, before)) return errors;
  for (const list of ['containers', 'initContainers']) {
    if (parts(spec, list).length === parts(before, list).length) continue;
    return [...errors, forbiddenField(`spec.${list}`, 'pod updates may not add or remove containers')];
  }
  errors.push(
    ...validateDeadline(spec, before),
    ...validateTolerations(parts(spec, 'tolerations'), parts(before, 'tolerations')),
    ...validateGates(parts(spec, 'schedulingGates'), parts(before, 'schedulingGates')),
  );
  return [...errors, ...validateRest(pod, old)];
}

/** It can be set, and brought nearer. */
function validateDeadline(spec: JsonObject, old: JsonObject): FieldError[] {
  const path = 'spec.activeDeadlineSeconds';
  const { activeDeadlineSeconds: deadline } = spec;
  const { activeDeadlineSeconds: before } = old;
  if (typeof before !== 'number') return [];
  if (typeof deadline !== 'number')
    return [invalidValue(path, null, 'must not update from a positive integer to nil value')];
  return deadline > before
    ? [invalidValue(path, deadline, 'must be less than or equal to previous value')]
    : [];
}

function validateTolerations(tolerations: readonly JsonObject[], old: readonly JsonObject[]): FieldError[] {
  const kept = old.every((before) =>
    tolerations.some((toleration) => equalExcept(toleration, before, ['tolerationSeconds'])),
  );
  if (kept) return [];
  const why = 'existing toleration can not be modified except its tolerationSeconds';
  return [forbiddenField('spec.tolerations', why)];
}

function validateGates(gates: readonly JsonObject[], old: readonly JsonObject[]): FieldError[] {
  const known = new Set(old.map(({ name }) => name));
  return gates.flatMap(({ name }, at) => {
    if (known.has(name)) return [];
    const why = `only deletion is allowed, but found new scheduling gate '${text(name)}'`;
    return [forbiddenField(`spec.schedulingGates[${at}].name`, why)];
  });
}

const UPDATABLE = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
];

function validateRest(pod: ApiObject, old: ApiObject): FieldError[] {
  const spec = part(pod, 'spec');
  const before = part(old, 'spec');
  const errors: FieldError[] = [];
  if (qosClassOf(old) !== qosClass(spec))
    errors.push(invalidValue('metadata', text(part(pod, 'status').qosClass), 'Pod QoS is immutable'));
  const gated = parts(before, 'schedulingGates').length > 0;
  if (gated) errors.push(...validateGatedPlacement(spec, before));
  if (!equal(fixedPart(spec, before, gated), fixedPart(before, before, gated))) {
    const why = `pod updates may not change fields other than ${UPDATABLE.join(',')}`;
    errors.push(forbiddenField('spec', why));
  }
  return errors;
}

/** The spec without what has rules of its own above. */
function fixedPart(spec: JsonObject, old: JsonObject, gated: boolean): JsonObject {
  const fixed: JsonObject = { ...spec };
  for (const field of ['activeDeadlineSeconds', 'schedulingGates', 'tolerations']) delete fixed[field];
  for (const list of ['containers', 'initContainers'])
    fixed[list] = parts(spec, list).map(({ image: _, ...container }) => container);
  if (Number(old.terminationGracePeriodSeconds) < 0 && spec.terminationGracePeriodSeconds === 1)
    delete fixed.terminationGracePeriodSeconds;
  if (fixed.terminationGracePeriodSeconds === undefined)
    fixed.terminationGracePeriodSeconds = old.terminationGracePeriodSeconds;
  if (!gated) return fixed;
  const { nodeAffinity: _, ...affinity } = part(spec, 'affinity');
  delete fixed.nodeSelector;
  delete fixed.affinity;
  return Object.keys(affinity).length === 0 ? fixed : { ...fixed, affinity };
}
