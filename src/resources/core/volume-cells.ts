import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { Cell } from '../../registry/definition.ts';
import { age, part, text } from '../cells.ts';

const SHORT_MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

function modes(holder: JsonObject): string {
  const { accessModes } = holder;
  return Array.isArray(accessModes)
    ? accessModes.map((mode) => SHORT_MODES[String(mode)] ?? String(mode)).join(',')
    : '';
}

const whenLive = (object: ApiObject, phase: string): string =>
  object.metadata.deletionTimestamp === undefined ? phase : 'Terminating';

export function claimCells(claim: ApiObject, now: number): readonly Cell[] {
  const spec = part(claim, 'spec');
  const status = part(claim, 'status');
  const bound = text(spec.volumeName) !== '';
  return [
    claim.metadata.name ?? '',
    whenLive(claim, text(status.phase)),
    text(spec.volumeName),
    bound ? text(part(status, 'capacity').storage) : '',
    bound ? modes(status) : '',
    text(
      spec.storageClassName,
      text(claim.metadata.annotations?.['volume.beta.kubernetes.io/storage-class']),
    ),
    text(spec.volumeAttributesClassName, '<unset>'),
    age(claim, now),
    text(spec.volumeMode, '<unset>'),
  ];
}

export function volumeCells(volume: ApiObject, now: number): readonly Cell[] {
  const spec = part(volume, 'spec');
  const status = part(volume, 'status');
  const claim = part(spec, 'claimRef');
  return [
    volume.metadata.name ?? '',
    text(part(spec, 'capacity').storage),
    modes(spec),
    text(spec.persistentVolumeReclaimPolicy),
    whenLive(volume, text(status.phase)),
    claim.name === undefined ? '' : `${text(claim.namespace)}/${text(claim.name)}`,
    text(spec.storageClassName),
    text(spec.volumeAttributesClassName, '<unset>'),
    text(status.reason),
    age(volume, now),
    text(spec.volumeMode, '<unset>'),
  ];
}
