import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { forbiddenField, invalidValue } from '../../object/field-errors.ts';
import { part, text } from '../../object/parts.ts';
import { optionalText } from '../validation/optional-text.ts';
import { comparableQuantities, nanosOf } from '../validation/quantity-values.ts';
import { normalizeDataSources } from './claim-data-source.ts';
import { BETA_CLASS_ANNOTATION } from './volume-cells.ts';

/** A claim is counted by quotas and bound by its spec, so little of it can change: once its volume, and its size upwards. */
export function validateClaimUpdate(claim: ApiObject, old: ApiObject): FieldError[] {
  const spec = part(claim, 'spec');
  const before = part(old, 'spec');
  const errors = validateClassAnnotation(claim, old);
  if (!equal(expectedSpec(claim, old), comparable(before))) {
    const why =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    errors.push(forbiddenField('spec', why));
  }
  if (nanosOf(sizeOf(spec)) < nanosOf(sizeOf(before))) {
    const why = 'field can not be less than previous value';
    errors.push(forbiddenField('spec.resources.requests.storage', why));
  }
  if (spec.volumeMode !== before.volumeMode) {
    errors.push(invalidValue('volumeMode', spec.volumeMode, 'field is immutable'));
  }
  return errors;
}

const sizeOf = (spec: JsonObject): JsonObject[string] => part(spec, 'resources', 'requests').storage;

/** The new spec, with everything that may change as it was. */
function expectedSpec(claim: ApiObject, old: ApiObject): JsonObject {
  const before = comparable(part(old, 'spec'));
  const spec = comparable(part(claim, 'spec'));
  if (text(before.volumeName) === '') spec.volumeName = before.volumeName;
  if (namesClassLater(claim, old)) spec.storageClassName = before.storageClassName;
  const requests = part(spec, 'resources', 'requests');
  const isBound = part(claim, 'status').phase === 'Bound';
  if (isBound && Object.keys(requests).length > 0)
    requests.storage = part(before, 'resources', 'requests').storage;
  return spec;
}

function comparable(spec: JsonObject): JsonObject {
  const copy = structuredClone(spec);
  normalizeDataSources(copy);
  const resources = part(copy, 'resources');
  return {
    ...copy,
    resources: {
      requests: comparableQuantities(part(resources, 'requests')),
      limits: comparableQuantities(part(resources, 'limits')),
    },
  };
}

interface ClassChange {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly annotation: string | undefined;
  readonly newAnnotation: string | undefined;
}

const classChange = (claim: ApiObject, old: ApiObject): ClassChange => ({
  from: optionalText(part(old, 'spec'), 'storageClassName'),
  to: optionalText(part(claim, 'spec'), 'storageClassName'),
  annotation: old.metadata.annotations?.[BETA_CLASS_ANNOTATION],
  newAnnotation: claim.metadata.annotations?.[BETA_CLASS_ANNOTATION],
});

/** A claim without a class may get one (the default, when there is one at last), but none other than its annotation says. */
function namesClassLater(claim: ApiObject, old: ApiObject): boolean {
  const { from, to, annotation } = classChange(claim, old);
  return from === undefined && to !== undefined && (annotation === undefined || annotation === to);
}

/** The annotation may go when the field takes its place. */
function validateClassAnnotation(claim: ApiObject, old: ApiObject): FieldError[] {
  const { from, to, annotation, newAnnotation } = classChange(claim, old);
  const moves = annotation !== undefined && from === undefined && to === annotation;
  if ((annotation ?? '') === (newAnnotation ?? '') || (moves && newAnnotation === undefined)) return [];
  const path = `metadata.annotations.${BETA_CLASS_ANNOTATION}`;
  return [invalidValue(path, newAnnotation ?? '', 'field is immutable')];
}
