import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { forbiddenField, invalidValue, required } from '../../../object/field-errors.ts';
import { parseQuantity } from '../../../object/quantity.ts';
import { validateLabels } from '../../../registry/validate-metadata.ts';
import { part, text } from '../../cells.ts';
import { validateOptionalSelector } from '../../validation/label-selector.ts';
import { isSet, stringMap, strings, validateName } from '../../validation/values.ts';
import { validateAnnotations } from './annotations.ts';

/** The claim that is made for an ephemeral volume: it gets its name and place from the pod. */
export function validateClaimTemplate(template: JsonObject, path: string): FieldError[] {
  const metadata = part(template, 'metadata');
  const foreign = Object.keys(metadata).filter(
    (field) => field !== 'labels' && field !== 'annotations' && isSet(metadata[field]),
  );
  return [
    ...validateAnnotations(stringMap(metadata, 'annotations'), `${path}.metadata.annotations`),
    ...validateLabels(stringMap(metadata, 'labels'), `${path}.metadata.labels`),
    ...foreign.map((field) => forbiddenField(`${path}.metadata.${field}`, 'cannot be set')),
    ...validateClaim(part(template, 'spec'), `${path}.spec`),
  ];
}

function validateClaim(spec: JsonObject, path: string): FieldError[] {
  const modes = strings(spec, 'accessModes');
  const storageClass = text(spec.storageClassName);
  return [
    ...(modes.length === 0 ? [required(`${path}.accessModes`, 'at least 1 access mode is required')] : []),
    ...(modes.includes('ReadWriteOncePod') && modes.some((mode) => mode !== 'ReadWriteOncePod')
      ? [forbiddenField(`${path}.accessModes`, 'may not use ReadWriteOncePod with other access modes')]
      : []),
    ...validateOptionalSelector(spec, 'selector', path),
    ...validateSize(spec, `${path}.resources[storage]`),
    ...(storageClass === '' ? [] : validateName(`${path}.storageClassName`, storageClass, 'dns-subdomain')),
  ];
}

function validateSize(spec: JsonObject, path: string): FieldError[] {
  const size = stringMap(part(spec, 'resources'), 'requests').storage;
  if (size === undefined) return [required(path)];
  return (parseQuantity(size)?.nanos ?? 0n) > 0n
    ? []
    : [invalidValue(path, size, 'must be greater than zero')];
}
