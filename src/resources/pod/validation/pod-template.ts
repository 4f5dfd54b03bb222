import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { forbiddenField } from '../../../object/field-errors.ts';
import { objectsOf, part } from '../../../object/parts.ts';
import { validateLabels } from '../../../registry/validate-metadata.ts';
import { stringMap } from '../../validation/values.ts';
import { validateAnnotations, validatePodAnnotations } from './annotations.ts';
import { validatePodSpec } from './pod-spec.ts';
import { validateProfileAnnotations } from './security-profiles.ts';

/** A pod template, wherever it stands: `path` is `spec.template`, for example. */
export function validatePodTemplate(template: JsonObject, path: string): FieldError[] {
  const metadata = part(template, 'metadata');
  const annotations = stringMap(metadata, 'annotations');
  const spec = part(template, 'spec');
  const errors = validateLabels(stringMap(metadata, 'labels'), `${path}.labels`);
  validateAnnotations(annotations, `${path}.annotations`, errors);
  validatePodAnnotations(annotations, spec, `${path}.annotations`, errors);
  validatePodSpec(spec, { path: `${path}.spec` }, errors);
  validateProfileAnnotations(annotations, spec, `${path}.spec`, errors);
  if (objectsOf(spec.ephemeralContainers).length > 0) {
    const why = 'ephemeral containers not allowed in pod template';
    errors.push(forbiddenField(`${path}.spec.ephemeralContainers`, why));
  }
  return errors;
}
