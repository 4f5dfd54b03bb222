import type { ISCSIVolumeSource, Volume } from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { checkName } from '../../../object/text-formats.ts';
import { mustBeName } from '../../rules/name-rules.ts';
import { isVolumeKind, VOLUME_KINDS, type VolumeKind, validateSource } from './volume-sources.ts';

/**
 * Returns the valid volumes by name, for mounts to refer to. `podName` is '' in templates, where names of claims of ephemeral
 * volumes are unknown.
 */
export function validateVolumes(
  at: FieldPath,
  volumes: readonly Volume[] = [],
  podName: string,
): ReadonlyMap<string, Volume> {
  const byName = new Map<string, Volume>();
  const made = claimsMade(volumes, podName);
  for (const [path, volume] of at.each(volumes)) {
    const { name = '', persistentVolumeClaim } = volume;
    const foundBefore = at.found;
    validateVolume(path, volume, podName);
    validateVolumeName(path.field('name'), name, byName);
    if (at.found === foundBefore) byName.set(name, volume);
    const claim = persistentVolumeClaim?.claimName ?? '';
    if (podName !== '' && made.has(claim))
      path
        .field('persistentVolumeClaim')
        .field('claimName')
        .invalid(claim, 'must not reference a PVC that gets created for an ephemeral volume');
  }
  return byName;
}

const NO_CLAIMS: ReadonlySet<string> = new Set();

function claimsMade(volumes: readonly Volume[], podName: string): ReadonlySet<string> {
  const ephemeral = volumes.filter((volume) => volume.ephemeral !== undefined);
  return ephemeral.length === 0 ? NO_CLAIMS : new Set(ephemeral.map(({ name = '' }) => `${podName}-${name}`));
}

function validateVolumeName(at: FieldPath, name: string, known: ReadonlyMap<string, Volume>): void {
  if (name === '') {
    at.required();
    return;
  }
  mustBeName(at, name, 'dns-label');
  if (known.has(name)) at.duplicate(name);
}

function validateVolume(at: FieldPath, volume: Volume, podName: string): void {
  const [kind, ...others] = kindsOf(volume);
  if (kind === undefined) {
    at.required('must specify a volume type');
    return;
  }
  validateSource(at.field(kind), volume, kind);
  for (const other of others) at.field(other).forbidden('may not specify more than 1 volume type');
  const { name = '', iscsi, ephemeral, image } = volume;
  // A template may leave it to the controller that makes pods.
  if (image !== undefined && podName !== '' && (image.reference ?? '') === '')
    at.field('image').field('reference').required();
  if (iscsi !== undefined) validateNameWithIscsi(at.field('name'), name, iscsi);
  if (ephemeral !== undefined) validateNameOfClaim(at.field('name'), name, podName);
}

/** A volume has two of thirty possible fields: reads only existing ones, and orders them only when there are two kinds. */
function kindsOf(volume: Volume): readonly VolumeKind[] {
  const given: VolumeKind[] = [];
  for (const field in volume) if (isVolumeKind(field) && volume[field] !== undefined) given.push(field);
  return given.length < 2 ? given : VOLUME_KINDS.filter((kind) => given.includes(kind));
}

const MAX_ISCSI_CHARS = 64;

/** Two kinds of volumes make names of the volume's own. */
function validateNameWithIscsi(at: FieldPath, name: string, source: ISCSIVolumeSource): void {
  const { initiatorName, targetPortal = '' } = source;
  if (initiatorName === undefined || `${name}:${targetPortal}`.length <= MAX_ISCSI_CHARS) return;
  at.invalid(
    name,
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.',
  );
}

function validateNameOfClaim(at: FieldPath, name: string, podName: string): void {
  if (podName === '' || name === '') return;
  const claim = `${podName}-${name}`;
  for (const why of checkName(claim, 'dns-subdomain')) at.invalid(name, `PVC name "${claim}": ${why}`);
}
