import type { Pod, PodSpec, PodTemplateSpec } from '../../../api/types/core/v1.ts';
import { equal } from '../../../object/equality.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { mustBeLabels } from '../../rules/labels.ts';
import { validateAnnotations, validatePodAnnotations } from './annotations.ts';
import { mustBeTrimmedImage } from './containers.ts';
import { validatePodSpec } from './pod-spec.ts';
import { validateProfileAnnotations } from './security-profiles.ts';

/** A pod, new or changed. */
export function validatePod(at: FieldPath, { metadata, spec = {} }: Pod, old?: Pod): void {
  const { name = '', annotations = {} } = metadata;
  validatePodAnnotations(at.field('metadata').field('annotations'), annotations, spec);
  if (old !== undefined && equal(spec, old.spec)) return;
  const path = at.field('spec');
  validatePodSpec(path, spec, name);
  validateTokens(path, spec);
  for (const list of ['containers', 'initContainers'] as const)
    for (const [item, container] of path.field(list).each(spec[list])) mustBeTrimmedImage(item, container);
}

/** A token is of a service account; without one there is nothing to project. */
function validateTokens(at: FieldPath, { serviceAccountName = '', volumes }: PodSpec): void {
  if (serviceAccountName !== '') return;
  for (const [path, { projected }] of at.field('volumes').each(volumes)) {
    if (projected === undefined) continue;
    for (const [source, { serviceAccountToken }] of path
      .field('projected')
      .field('sources')
      .each(projected.sources))
      if (serviceAccountToken !== undefined)
        source
          .field('serviceAccountToken')
          .forbidden('must not be specified when serviceAccountName is not set');
  }
}

/** What a pod may become but not begin with. */
export function validateNewPod(at: FieldPath, { metadata, spec = {} }: Pod): void {
  const { ephemeralContainers = [], nodeName = '', schedulingGates = [] } = spec;
  const path = at.field('spec');
  validateProfileAnnotations(path, metadata.annotations ?? {}, spec);
  if (ephemeralContainers.length > 0) path.field('ephemeralContainers').forbidden('cannot be set on create');
  if (nodeName !== '' && schedulingGates.length > 0)
    path.field('nodeName').forbidden('cannot be set until all schedulingGates have been cleared');
}

/** A pod template, wherever it stands: `at` is `spec.template`, for example. */
export function validatePodTemplate(at: FieldPath, { metadata = {}, spec = {} }: PodTemplateSpec): void {
  const { labels, annotations = {} } = metadata;
  mustBeLabels(at.field('labels'), labels);
  validateAnnotations(at.field('annotations'), annotations);
  validatePodAnnotations(at.field('annotations'), annotations, spec);
  validatePodSpec(at.field('spec'), spec);
  validateProfileAnnotations(at.field('spec'), annotations, spec);
  if ((spec.ephemeralContainers ?? []).length > 0)
    at.field('spec')
      .field('ephemeralContainers')
      .forbidden('ephemeral containers not allowed in pod template');
}
