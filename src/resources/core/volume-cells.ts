import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { part, text } from '../../object/parts.ts';
import type { Cell } from '../../registry/definition.ts';
import { age } from '../cells.ts';
import { optionalText } from '../validation/optional-text.ts';
import { strings } from '../validation/values.ts';

/** Always shown in this order. */
const SHORT_MODES: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

export const BETA_CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

function modes(holder: JsonObject): string {
  const given = strings(holder, 'accessModes');
  return SHORT_MODES.filter(([mode]) => given.includes(mode))
    .map(([, short]) => short)
    .join(',');
}

/** An old annotation goes before the field that replaced it. */
const storageClass = ({ metadata, spec }: ApiObject): string =>
  metadata.annotations?.[BETA_CLASS_ANNOTATION] ?? text(part({ spec }, 'spec').storageClassName);

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
    bound ? text(part(status, 'capacity').storage, '0') : '',
    bound ? modes(status) : '',
    storageClass(claim),
    optionalText(spec, 'volumeAttributesClassName') ?? '<unset>',
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
    text(part(spec, 'capacity').storage, '0'),
    modes(spec),
    text(spec.persistentVolumeReclaimPolicy),
    whenLive(volume, text(status.phase)),
    spec.claimRef === undefined ? '' : `${text(claim.namespace)}/${text(claim.name)}`,
    storageClass(volume),
    optionalText(spec, 'volumeAttributesClassName') ?? '<unset>',
    text(status.reason),
    age(volume, now),
    text(spec.volumeMode, '<unset>'),
  ];
}
