import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { duplicate, forbiddenField, invalidValue, required } from '../../../object/field-errors.ts';
import { checkName } from '../../../object/formats.ts';
import { objectOf, text } from '../../../object/parts.ts';
import { addAll, addName, eachAt } from '../../validation/values.ts';
import { VOLUME_KINDS } from './volume-sources.ts';

/**
 * Answers the good ones, by name: what mounts may refer to. `podName` is '' in templates, where the names of claims made for
 * ephemeral volumes are not known yet.
 */
export function validateVolumes(
  volumes: readonly JsonObject[],
  path: string,
  podName: string,
  errors: FieldError[],
): ReadonlyMap<string, JsonObject> {
  const byName = new Map<string, JsonObject>();
  const made = claimsMade(volumes, podName);
  eachAt(volumes, path, (volume, at) => {
    const name = text(volume.name);
    const before = errors.length;
    validateVolume(volume, at, podName, errors);
    validateVolumeName(name, `${at}.name`, byName, errors);
    if (errors.length === before) byName.set(name, volume);
    if (made.size === 0) return;
    const claim = text(objectOf(volume.persistentVolumeClaim).claimName);
    if (podName !== '' && made.has(claim)) {
      const why = 'must not reference a PVC that gets created for an ephemeral volume';
      errors.push(invalidValue(`${at}.persistentVolumeClaim.claimName`, claim, why));
    }
  });
  return byName;
}

function claimsMade(volumes: readonly JsonObject[], podName: string): ReadonlySet<string> {
  const made = new Set<string>();
  for (const { ephemeral, name } of volumes)
    if (ephemeral !== undefined) made.add(`${podName}-${text(name)}`);
  return made;
}

function validateVolumeName(
  name: string,
  path: string,
  known: ReadonlyMap<string, JsonObject>,
  errors: FieldError[],
): void {
  if (name === '') {
    errors.push(required(path));
    return;
  }
  addName(errors, path, name, 'dns-label');
  if (known.has(name)) errors.push(duplicate(path, name));
}

const MAX_ISCSI_CHARS = 64;

function validateVolume(volume: JsonObject, path: string, podName: string, errors: FieldError[]): void {
  const [kind, ...others] = kindsOf(volume);
  if (kind === undefined) {
    errors.push(required(path, 'must specify a volume type'));
    return;
  }
  addAll(errors, VOLUME_KINDS.get(kind)?.(objectOf(volume[kind]), `${path}.${kind}`) ?? []);
  for (const other of others)
    errors.push(forbiddenField(`${path}.${other}`, 'may not specify more than 1 volume type'));
  if (volume.iscsi !== undefined) validateNameWithIscsi(volume, path, errors);
  if (volume.ephemeral !== undefined) validateNameOfClaim(volume, path, podName, errors);
}

/** A volume has two of thirty possible fields: those it has are looked at, and only of two kinds the order is asked for. */
function kindsOf(volume: JsonObject): readonly string[] {
  const given: string[] = [];
  for (const field in volume) if (VOLUME_KINDS.has(field) && volume[field] !== undefined) given.push(field);
  return given.length < 2 ? given : [...VOLUME_KINDS.keys()].filter((kind) => given.includes(kind));
}

/** Two kinds of volumes make names of the volume's own. */
function validateNameWithIscsi(volume: JsonObject, path: string, errors: FieldError[]): void {
  const name = text(volume.name);
  const { initiatorName, targetPortal } = objectOf(volume.iscsi);
  if (initiatorName === undefined || `${name}:${text(targetPortal)}`.length <= MAX_ISCSI_CHARS) return;
  const why =
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
  errors.push(invalidValue(`${path}.name`, name, why));
}

function validateNameOfClaim(volume: JsonObject, path: string, podName: string, errors: FieldError[]): void {
  const name = text(volume.name);
  if (podName === '' || name === '') return;
  const claim = `${podName}-${name}`;
  for (const why of checkName(claim, 'dns-subdomain'))
    errors.push(invalidValue(`${path}.name`, name, `PVC name "${claim}": ${why}`));
}
