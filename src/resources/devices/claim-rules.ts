import type { ObjectMeta } from '../../api/object-meta.ts';
import type { DeviceRequest } from '../../api/types/resource/v1alpha3.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkQualifiedName } from '../../object/text-formats.ts';
import { mustBeLabels } from '../rules/labels.ts';

/** Labels and annotations of the claims to be. */
export function validateClaimMeta(at: FieldPath, { labels, annotations = {} }: ObjectMeta): void {
  mustBeLabels(at.field('labels'), labels);
  for (const key of Object.keys(annotations))
    at.field('annotations').invalidFor(key, checkQualifiedName(key.toLowerCase()));
}

const MODES = ['All', 'ExactCount'];

/** How many devices a request asks for. */
export function validateCount(
  at: FieldPath,
  { allocationMode = '', count = 0 }: Pick<DeviceRequest, 'allocationMode' | 'count'>,
): void {
  switch (allocationMode) {
    case 'All':
      if (count !== 0) at.field('count').invalid(count, "must not be specified when allocationMode is 'All'");
      return;
    case 'ExactCount':
      if (count <= 0) at.field('count').invalid(count, 'must be greater than zero');
      return;
    default:
      at.field('allocationMode').notSupported(allocationMode, MODES);
  }
}
