import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { validateLabels } from '../../../registry/validate-metadata.ts';
import { part } from '../../cells.ts';

/** A pod template, wherever it stands: `path` is `spec.template`, for example. */
export function validatePodTemplate(template: JsonObject, path: string): FieldError[] {
  const labels = part(template, 'metadata', 'labels') as Record<string, string>;
  return validateLabels(labels, `${path}.metadata.labels`);
}
