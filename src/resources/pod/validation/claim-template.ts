import type { PersistentVolumeClaimTemplate } from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { validateClaimSpec } from '../../core/persistent-volume-claim/validate.ts';
import { mustBeLabels } from '../../rules/labels.ts';
import { validateAnnotations } from './annotations.ts';

/** The claim that is made for an ephemeral volume: it gets its name and place from the pod. */
export function validateClaimTemplate(
  at: FieldPath,
  { metadata = {}, spec = {} }: PersistentVolumeClaimTemplate,
): void {
  const { labels, annotations = {}, ...others } = metadata;
  const path = at.field('metadata');
  validateAnnotations(path.field('annotations'), annotations);
  mustBeLabels(path.field('labels'), labels);
  for (const [field, value] of Object.entries(others))
    if (value !== undefined && value !== null) path.field(field).forbidden('cannot be set');
  validateClaimSpec(at.field('spec'), spec);
}
