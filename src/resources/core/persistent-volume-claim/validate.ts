import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  TypedLocalObjectReference,
  TypedObjectReference,
} from '../../../api/types/core/v1.ts';
import { equal, equalExcept } from '../../../object/equality.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { isNativeResource } from '../../../object/resource-list.ts';
import { checkQualifiedName } from '../../../object/text-formats.ts';
import { mustNotChange } from '../../rules/immutable.ts';
import { mustBeLabelSelector } from '../../rules/labels.ts';
import { mustBeName, mustHaveTexts } from '../../rules/name-rules.ts';
import {
  comparableQuantities,
  mustBePositiveQuantity,
  mustBeResourceQuantity,
  nanosOf,
} from '../../rules/numbers.ts';
import { BETA_CLASS_ANNOTATION } from '../persistent-volume/definition.ts';
import { validateAccessModes } from '../persistent-volume/validate.ts';

/** The spec of a claim, by itself or as a template of claims. */
export function validateClaimSpec(at: FieldPath, spec: PersistentVolumeClaimSpec): void {
  const { selector, resources, storageClassName = '', volumeAttributesClassName: attributes = '' } = spec;
  const size = resources?.requests?.storage;
  const sizePath = at.field('resources').item('storage');
  validateAccessModes(at, spec, 'at least 1 access mode is required');
  mustBeLabelSelector(at.field('selector'), selector);
  if (size === undefined) sizePath.required();
  else mustBePositiveQuantity(sizePath, size);
  if (storageClassName !== '') mustBeName(at.field('storageClassName'), storageClassName, 'dns-subdomain');
  if (attributes !== '') mustBeName(at.field('volumeAttributesClassName'), attributes, 'dns-subdomain');
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

const IMMUTABLE =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

/** A claim is counted by quotas and bound by its spec, so little of it can change: once its volume, and its size upwards. */
export function validateUpdate(
  at: FieldPath,
  claim: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
): void {
  validateClassAnnotation(at, claim, old);
  if (!isSameSpec(at, claim, old)) at.field('spec').forbidden(IMMUTABLE);
  if (sizeOf(claim) < sizeOf(old)) mustBeRecovery(at.field('spec.resources.requests.storage'), claim, old);
  mustNotChange(at.field('volumeMode'), claim.spec?.volumeMode, old.spec?.volumeMode);
  mustKeepAttributes(at.field('spec.volumeAttributesClassName'), claim, old);
}

const CLASSES = 'VolumeAttributesClass';

/**
 * A volume always has attributes, so a class can be changed for another one alone: one that is wanted until 1.33, and since then one
 * that the volume has.
 */
function mustKeepAttributes(
  at: FieldPath,
  { spec }: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
): void {
  const name = spec?.volumeAttributesClassName;
  const wanted = old.spec?.volumeAttributesClassName;
  if (name === wanted) return;
  if (!at.isOn(CLASSES)) at.forbidden(`update is forbidden when the ${CLASSES} feature gate is disabled`);
  const isLate = at.minor >= 34;
  const before = isLate ? old.status?.currentVolumeAttributesClassName : wanted;
  const [from, empty, when] = isLate
    ? ['', 'empty string', ' when status.currentVolumeAttributesClassName is not nil']
    : [' from non-nil value', 'an empty string', ''];
  if (before === undefined) return;
  if (name === undefined) at.forbidden(`update${from} to nil is forbidden${when}`);
  else if (name === '') at.forbidden(`update${from} to ${empty} is forbidden${when}`);
}

/** A volume that could not grow so far may grow less far. It never shrinks. */
function mustBeRecovery(at: FieldPath, claim: PersistentVolumeClaim, old: PersistentVolumeClaim): void {
  if (!recoversExpansion(at, old)) at.forbidden('field can not be less than previous value');
  else if (sizeOf(claim) <= nanosOf(old.status?.capacity?.storage))
    at.forbidden('field can not be less than status.capacity');
}

/** A claim whose growth was once recorded is judged as if the feature were on. */
const recoversExpansion = (at: FieldPath, { status = {} }: PersistentVolumeClaim): boolean =>
  at.isOn('RecoverVolumeExpansionFailure') ||
  status.allocatedResources !== undefined ||
  status.allocatedResourceStatuses !== undefined;

export function validateStatus(
  root: FieldPath,
  { status = {} }: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
): void {
  const at = root.field('status');
  for (const [path, , quantity] of at.field('capacity').entries(status.capacity))
    mustBeResourceQuantity(path, quantity);
  if (!recoversExpansion(at, old)) return;
  // Until 1.33, Kubernetes leaves the last letters of the field out of the path.
  const statuses = at.field(at.minor < 34 ? 'allocatedResourceStatus' : 'allocatedResourceStatuses');
  for (const key of Object.keys(status.allocatedResourceStatuses ?? {})) mustBeResourceOfClaim(statuses, key);
  const amounts = at.field('allocatedResources');
  for (const [path, key, quantity] of amounts.entries(status.allocatedResources)) {
    mustBeResourceOfClaim(amounts, key);
    mustBeResourceQuantity(path, quantity);
  }
}

function mustBeResourceOfClaim(at: FieldPath, name: string): void {
  const reasons = checkQualifiedName(name);
  at.invalidFor(name, reasons);
  if (reasons.length === 0 && isNativeResource(name) && name !== 'storage')
    at.notSupported(name, ['storage']);
}

const sizeOf = ({ spec }: PersistentVolumeClaim): bigint => nanosOf(spec?.resources?.requests?.storage);

/** Whether only mutable fields differ. */
function isSameSpec(at: FieldPath, claim: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
  const { requests, limits, ...spec } = comparable(claim);
  const { requests: oldRequests, limits: oldLimits, ...before } = comparable(old);
  const canChange = [
    ...((before.volumeName ?? '') === '' ? ['volumeName'] : []),
    ...(namesClassLater(claim, old) ? ['storageClassName'] : []),
  ];
  const isBound = claim.status?.phase === 'Bound';
  if (isBound && (spec.volumeAttributesClassName !== undefined || at.minor >= 34))
    canChange.push('volumeAttributesClassName');
  const canGrow = isBound && Object.keys(requests).length > 0;
  return (
    equalExcept(spec, before, canChange) &&
    equalExcept(requests, oldRequests, canGrow ? ['storage'] : []) &&
    equal(limits, oldLimits)
  );
}

type Quantities = Readonly<Record<string, string>>;
type ComparableSpec = PersistentVolumeClaimSpec & {
  readonly requests: Quantities;
  readonly limits: Quantities;
};

/** Sources of data as they are stored, and quantities without their units. */
function comparable({ spec: { resources, ...spec } = {} }: PersistentVolumeClaim): ComparableSpec {
  const { requests = {}, limits = {} } = resources ?? {};
  normalizeDataSources(spec);
  return { ...spec, requests: comparableQuantities(requests), limits: comparableQuantities(limits) };
}

interface ClassChange {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly annotation: string | undefined;
  readonly newAnnotation: string | undefined;
}

const classChange = (claim: PersistentVolumeClaim, old: PersistentVolumeClaim): ClassChange => ({
  from: old.spec?.storageClassName,
  to: claim.spec?.storageClassName,
  annotation: old.metadata.annotations?.[BETA_CLASS_ANNOTATION],
  newAnnotation: claim.metadata.annotations?.[BETA_CLASS_ANNOTATION],
});

/** A claim without a class may get one (the default), but only the one of its annotation. */
function namesClassLater(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
  const { from, to, annotation } = classChange(claim, old);
  return from === undefined && to !== undefined && (annotation === undefined || annotation === to);
}

/** The annotation may go when the field takes its place. */
function validateClassAnnotation(
  at: FieldPath,
  claim: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
): void {
  const { from, to, annotation, newAnnotation } = classChange(claim, old);
  const isMoved = annotation !== undefined && from === undefined && to === annotation;
  if ((annotation ?? '') === (newAnnotation ?? '') || (isMoved && newAnnotation === undefined)) return;
  const path = at.field('metadata').field('annotations').field(BETA_CLASS_ANNOTATION);
  path.invalid(newAnnotation ?? '', 'field is immutable');
}

/** The field that is given fills the other, unless it points to another namespace. */
export function normalizeDataSources(spec: PersistentVolumeClaimSpec): void {
  const { dataSource, dataSourceRef } = spec;
  if (dataSource !== undefined && dataSourceRef === undefined) {
    spec.dataSourceRef = { ...dataSource };
  } else if (dataSourceRef !== undefined && dataSource === undefined) {
    const { namespace = '', ...source } = dataSourceRef;
    if (namespace === '') spec.dataSource = source;
  }
}
