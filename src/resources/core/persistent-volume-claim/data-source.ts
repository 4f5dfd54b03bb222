import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  TypedLocalObjectReference,
} from '../../../api/types/core/v1.ts';
import { type Ratchet, ratchetOf } from '../../rules/checked.ts';

/**
 * A claim can be filled from another one, from a snapshot, or from anything a populator knows. The older field
 * `dataSource` takes the first two alone and ignores others; `dataSourceRef` takes all. Both are kept alike.
 */

/** Drops other sources in the old field, and (a feature that is off) sources in other namespaces, unless they were stored. */
export function dropForeignSources(spec: PersistentVolumeClaimSpec, old: PersistentVolumeClaimSpec): void {
  const { namespace = '' } = spec.dataSourceRef ?? {};
  if (namespace !== '' && old.dataSourceRef === undefined) delete spec.dataSourceRef;
  const hadSource = old.dataSource !== undefined || old.dataSourceRef !== undefined;
  if (hadSource || spec.dataSourceRef !== undefined || spec.dataSource === undefined) return;
  if (!isClaimOrSnapshot(spec.dataSource)) delete spec.dataSource;
}

const isClaimOrSnapshot = ({ apiGroup = '', kind }: TypedLocalObjectReference): boolean =>
  (kind === 'PersistentVolumeClaim' && apiGroup === '') ||
  (kind === 'VolumeSnapshot' && apiGroup === 'snapshot.storage.k8s.io');

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

/** The group of a source could once be any text; a claim that has a group is not judged by it again. */
export const SOURCE_GROUP: Ratchet<PersistentVolumeClaim> = {
  ...ratchetOf(/^spec\.dataSource(Ref)?\.apiGroup$/),
  allows: ({ spec = {} }) =>
    spec.dataSource?.apiGroup !== undefined || spec.dataSourceRef?.apiGroup !== undefined,
};
