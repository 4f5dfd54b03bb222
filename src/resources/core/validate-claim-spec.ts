import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { invalidValue, required } from '../../object/field-errors.ts';
import { part, text } from '../../object/parts.ts';
import { validateAccessModes } from '../storage/validation/access-modes.ts';
import { requireFields } from '../storage/validation/required-fields.ts';
import { validateLabelSelector } from '../validation/label-selector.ts';
import { nanosOf, validatePositiveQuantity } from '../validation/quantity-values.ts';
import { validateName } from '../validation/values.ts';

const NANOS = 1_000_000_000n;

/** The spec of a claim, by itself or as a template of claims. */
export function validateClaimSpec(spec: JsonObject, path: string): FieldError[] {
  const size = part(spec, 'resources', 'requests').storage;
  const sizePath = `${path}.resources[storage]`;
  const storageClass = text(spec.storageClassName);
  return [
    ...validateAccessModes(spec, path, 'at least 1 access mode is required'),
    ...validateLabelSelector(part(spec, 'selector'), `${path}.selector`),
    ...(size === undefined ? [required(sizePath)] : validatePositiveQuantity(size, sizePath)),
    ...(storageClass === '' ? [] : validateName(`${path}.storageClassName`, storageClass, 'dns-subdomain')),
    ...validateDataSources(spec, path),
  ];
}

function validateDataSources(spec: JsonObject, path: string): FieldError[] {
  const source = part(spec, 'dataSource');
  const reference = part(spec, 'dataSourceRef');
  const hasSource = spec.dataSource !== undefined;
  const hasReference = spec.dataSourceRef !== undefined;
  const namespace = text(reference.namespace);
  const errors = [
    ...(hasSource ? validateDataSource(source, `${path}.dataSource`) : []),
    ...(hasReference ? validateDataSource(reference, `${path}.dataSourceRef`) : []),
    ...(namespace === '' ? [] : validateName(`${path}.dataSourceRef.namespace`, namespace, 'dns-label')),
  ];
  if (!hasSource || !hasReference) return errors;
  if (namespace !== '') {
    const why = 'may not be specified when dataSourceRef.namespace is specified';
    return [...errors, invalidValue(path, `${path}.dataSource`, why)];
  }
  const same = ['apiGroup', 'kind', 'name'].every((field) => text(source[field]) === text(reference[field]));
  return same ? errors : [...errors, invalidValue(path, `${path}.dataSource`, 'must match dataSourceRef')];
}

function validateDataSource(source: JsonObject, path: string): FieldError[] {
  const group = text(source.apiGroup);
  const kind = text(source.kind);
  const errors = requireFields(source, ['name', 'kind'], path);
  if (group !== '') return [...errors, ...validateName(`${path}.apiGroup`, group, 'dns-subdomain')];
  return kind === 'PersistentVolumeClaim'
    ? errors
    : [
        ...errors,
        invalidValue(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"),
      ];
}

export function warnOfClaimSpec(spec: JsonObject, path: string): string[] {
  return ['requests', 'limits'].flatMap((list) => {
    const size = part(spec, 'resources', list).storage;
    return nanosOf(size) % NANOS === 0n
      ? []
      : [
          `${path}.resources.${list}[storage]: fractional byte value "${text(size)}" is invalid, must be an integer`,
        ];
  });
}
