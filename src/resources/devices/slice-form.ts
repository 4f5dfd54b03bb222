import type * as stored from '../../api/types/resource/stored.ts';
import type * as v1alpha3 from '../../api/types/resource/v1alpha3.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { age } from '../cells.ts';
import { column, nameColumn, type ResourceOutline } from '../define.ts';
import { mustBePoolName } from './device-names.ts';

type AnySlice = stored.ResourceSlice | v1alpha3.ResourceSlice;

/** The selectable fields and the table of slices, in every version. */
export const SLICE_FORM = {
  fields: {
    paths: {
      'spec.nodeName': ['spec.nodeName'],
      'spec.driver': ['spec.driver'],
    },
  },
  table: {
    columns: [nameColumn(), column('Node'), column('Driver'), column('Pool'), column('Age')],
    cells: (slice: AnySlice, now: number) => {
      const { nodeName = '', driver = '', pool } = slice.spec ?? {};
      return [slice.metadata.name ?? '', nodeName, driver, pool?.name ?? '', age(slice, now)];
    },
  },
} satisfies Pick<ResourceOutline<AnySlice>, 'fields' | 'table'>;

export function validatePool(at: FieldPath, pool: v1alpha3.ResourcePool): void {
  const { name = '', generation = 0, resourceSliceCount = 0 } = pool;
  mustBePoolName(at.field('name'), name);
  if (resourceSliceCount <= 0)
    at.field('resourceSliceCount').invalid(resourceSliceCount, 'must be greater than zero');
  if (generation < 0) at.field('generation').invalid(generation, 'must be greater than or equal to zero');
}
