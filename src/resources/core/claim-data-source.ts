import type { JsonObject } from '../../api/object-meta.ts';
import { part, text } from '../../object/parts.ts';
import { type Ratchet, ratchetOf } from '../validation/ratchet.ts';

/**
 * A claim can be filled from another one, from a snapshot, or from anything a populator knows. The older field
 * `dataSource` takes the first two alone and is silent about others; `dataSourceRef` takes all. Both are kept alike.
 */

/** Drops what was never heard of: other sources in the old field, and (a feature that is off) sources of other namespaces. */
export function dropForeignSources(spec: JsonObject, before: JsonObject): void {
  const namespace = text(part(spec, 'dataSourceRef').namespace);
  if (namespace !== '' && before.dataSourceRef === undefined) delete spec.dataSourceRef;
  const hadSource = before.dataSource !== undefined || before.dataSourceRef !== undefined;
  if (hadSource || spec.dataSourceRef !== undefined || spec.dataSource === undefined) return;
  if (!isClaimOrSnapshot(part(spec, 'dataSource'))) delete spec.dataSource;
}

function isClaimOrSnapshot({ apiGroup, kind }: JsonObject): boolean {
  const group = text(apiGroup);
  return (
    (kind === 'PersistentVolumeClaim' && group === '') ||
    (kind === 'VolumeSnapshot' && group === 'snapshot.storage.k8s.io')
  );
}

/** The one that is given becomes the other, unless it points to another namespace. */
export function normalizeDataSources(spec: JsonObject): void {
  const { dataSource, dataSourceRef } = spec;
  if (dataSource !== undefined && dataSourceRef === undefined) {
    spec.dataSourceRef = { ...part(spec, 'dataSource') };
  } else if (dataSourceRef !== undefined && dataSource === undefined) {
    const { namespace, ...source } = part(spec, 'dataSourceRef');
    if (text(namespace) === '') spec.dataSource = source;
  }
}

/** The group of a source could once be any text; a claim that has one, whatever it is, is not asked again. */
export const SOURCE_GROUP: Ratchet = {
  ...ratchetOf(/^spec\.dataSource(Ref)?\.apiGroup$/),
  allows: (old) =>
    ['dataSource', 'dataSourceRef'].some((name) => part(old, 'spec', name).apiGroup !== undefined),
};
