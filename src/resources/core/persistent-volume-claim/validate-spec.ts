import type {
  PersistentVolumeClaimSpec,
  TypedLocalObjectReference,
  TypedObjectReference,
} from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { mustBeLabelSelector } from '../../rules/labels.ts';
import { mustBeName } from '../../rules/names.ts';
import { mustBePositiveQuantity, nanosOf } from '../../rules/quantities.ts';
import { mustHaveTexts } from '../../rules/required.ts';
import { validateAccessModes } from '../persistent-volume/validate-spec.ts';

/** The spec of a claim, by itself or as a template of claims. */
export function validateClaimSpec(at: FieldPath, spec: PersistentVolumeClaimSpec): void {
  const { selector, resources, storageClassName = '' } = spec;
  const size = resources?.requests?.storage;
  const sizePath = at.field('resources').item('storage');
  validateAccessModes(at, spec, 'at least 1 access mode is required');
  mustBeLabelSelector(at.field('selector'), selector);
  if (size === undefined) sizePath.required();
  else mustBePositiveQuantity(sizePath, size);
  if (storageClassName !== '') mustBeName(at.field('storageClassName'), storageClassName, 'dns-subdomain');
  validateDataSources(at, spec);
}

function validateDataSources(at: FieldPath, { dataSource, dataSourceRef }: PersistentVolumeClaimSpec): void {
  const { namespace = '' } = dataSourceRef ?? {};
  const path = at.field('dataSource');
  const referencePath = at.field('dataSourceRef');
  if (dataSource !== undefined) validateDataSource(path, dataSource);
  if (dataSourceRef !== undefined) validateDataSource(referencePath, dataSourceRef);
  if (namespace !== '') mustBeName(referencePath.field('namespace'), namespace, 'dns-label');
  if (dataSource === undefined || dataSourceRef === undefined) return;
  if (namespace !== '')
    at.invalid(String(path), 'may not be specified when dataSourceRef.namespace is specified');
  else if (!isSameSource(dataSource, dataSourceRef)) at.invalid(String(path), 'must match dataSourceRef');
}

const isSameSource = (source: TypedLocalObjectReference, reference: TypedObjectReference): boolean =>
  (['apiGroup', 'kind', 'name'] as const).every(
    (field) => (source[field] ?? '') === (reference[field] ?? ''),
  );

function validateDataSource(at: FieldPath, source: TypedLocalObjectReference): void {
  const { apiGroup = '', kind = '' } = source;
  mustHaveTexts(at, source, ['name', 'kind']);
  if (apiGroup !== '') mustBeName(at.field('apiGroup'), apiGroup, 'dns-subdomain');
  else if (kind !== 'PersistentVolumeClaim')
    at.invalid(kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
}

const NANOS = 1_000_000_000n;

export function claimSpecWarnings({ resources = {} }: PersistentVolumeClaimSpec, path: string): string[] {
  const said: string[] = [];
  for (const list of ['requests', 'limits'] as const) {
    const size = resources[list]?.storage;
    const at = `${path}.resources.${list}[storage]`;
    if (nanosOf(size) % NANOS !== 0n)
      said.push(`${at}: fractional byte value "${size}" is invalid, must be an integer`);
  }
  return said;
}
