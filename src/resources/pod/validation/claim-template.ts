import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { forbiddenField } from '../../../object/field-errors.ts';
import { part } from '../../../object/parts.ts';
import { validateLabels } from '../../../registry/validate-metadata.ts';
import { validateClaimSpec } from '../../core/validate-claim-spec.ts';
import { isSet, stringMap } from '../../validation/values.ts';
import { validateAnnotations } from './annotations.ts';

/** The claim that is made for an ephemeral volume: it gets its name and place from the pod. */
export function validateClaimTemplate(template: JsonObject, path: string): FieldError[] {
  const metadata = part(template, 'metadata');
  const foreign = Object.keys(metadata).filter(
    (field) => field !== 'labels' && field !== 'annotations' && isSet(metadata[field]),
  );
  const errors: FieldError[] = [];
  validateAnnotations(stringMap(metadata, 'annotations'), `${path}.metadata.annotations`, errors);
  return [
    ...errors,
    ...validateLabels(stringMap(metadata, 'labels'), `${path}.metadata.labels`),
    ...foreign.map((field) => forbiddenField(`${path}.metadata.${field}`, 'cannot be set')),
    ...validateClaimSpec(part(template, 'spec'), `${path}.spec`),
  ];
}
