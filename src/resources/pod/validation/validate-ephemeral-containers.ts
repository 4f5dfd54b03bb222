import type { EphemeralContainer, Pod, PodSpec } from '../../../api/types/core/v1.ts';
import { equal } from '../../../object/equality.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { isMirrorPod } from './annotations.ts';
import { mustBeTrimmedImage, type PodContext, validateContainer } from './containers.ts';

/** Containers for debugging: `at` is their list. */
export function validateEphemeralContainers(at: FieldPath, spec: PodSpec, pod: PodContext): void {
  const others = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name = '' }) => name);
  const planned = new Set(others);
  const names = new Set(others);
  for (const [path, container] of at.each(spec.ephemeralContainers)) {
    const { name = '', targetContainerName: target = '' } = container;
    validateContainer(path, container, pod);
    mustBeTrimmedImage(path, container);
    if (names.has(name)) path.field('name').duplicate(name);
    names.add(name);
    if (target !== '' && !planned.has(target)) path.field('targetContainerName').notFound(target);
    refuseFields(path, container);
    refuseSubPaths(path.field('volumeMounts'), container);
  }
}

/** Fields that a debugging container cannot have, because the pod was planned without it. */
const FORBIDDEN = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const;

const CANNOT = 'cannot be set for an Ephemeral Container';

function refuseFields(at: FieldPath, container: EphemeralContainer): void {
  for (const field of FORBIDDEN) {
    const value = container[field];
    // Go writes empty structs, which count as absent.
    const isMeant = typeof value === 'object' ? Object.keys(value).length > 0 : value !== undefined;
    if (isMeant) at.field(field).forbidden(CANNOT);
  }
}

function refuseSubPaths(at: FieldPath, { volumeMounts }: EphemeralContainer): void {
  for (const [path, mount] of at.each(volumeMounts))
    for (const field of ['subPath', 'subPathExpr'] as const)
      if ((mount[field] ?? '') !== '') path.field(field).forbidden(CANNOT);
}

/** Containers can be added, but never changed. */
export function validateEphemeralUpdate(at: FieldPath, { spec }: Pod, old: Pod): void {
  if (isMirrorPod(old.metadata.annotations ?? {})) {
    at.whole.forbidden('static pods do not support ephemeral containers');
    return;
  }
  const containers = new Map(spec?.ephemeralContainers?.map((container) => [container.name, container]));
  for (const before of old.spec?.ephemeralContainers ?? []) {
    const now = containers.get(before.name);
    if (now !== undefined && equal(now, before)) continue;
    const fate = now === undefined ? 'removed' : 'changed';
    const why = `existing ephemeral containers "${before.name ?? ''}" may not be ${fate}\n`;
    at.field('spec').field('ephemeralContainers').forbidden(why);
  }
}
