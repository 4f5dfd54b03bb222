import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { duplicate, forbiddenField, invalidValue, required } from '../../../object/field-errors.ts';
import { checkName } from '../../../object/formats.ts';
import { part, text } from '../../cells.ts';
import { each, validateName } from '../../validation/values.ts';
import { VOLUME_KINDS } from './volume-sources.ts';

export interface ValidatedVolumes {
  readonly errors: readonly FieldError[];
  /** The good ones, by name: what mounts may refer to. */
  readonly byName: ReadonlyMap<string, JsonObject>;
}

/** `podName` is '' in templates, where the names of claims made for ephemeral volumes are not known yet. */
export function validateVolumes(
  volumes: readonly JsonObject[],
  path: string,
  podName: string,
): ValidatedVolumes {
  const byName = new Map<string, JsonObject>();
  const made = new Set(
    volumes.filter(({ ephemeral }) => ephemeral !== undefined).map(({ name }) => `${podName}-${text(name)}`),
  );
  const errors = each(volumes, path, (volume, at) => {
    const name = text(volume.name);
    const own = [...validateVolume(volume, at, podName), ...validateVolumeName(name, `${at}.name`, byName)];
    if (own.length === 0) byName.set(name, volume);
    const claim = text(part(volume, 'persistentVolumeClaim').claimName);
    if (podName !== '' && made.has(claim)) {
      const why = 'must not reference a PVC that gets created for an ephemeral volume';
      own.push(invalidValue(`${at}.persistentVolumeClaim.claimName`, claim, why));
    }
    return own;
  });
  return { errors, byName };
}

function validateVolumeName(
  name: string,
  path: string,
  known: ReadonlyMap<string, JsonObject>,
): FieldError[] {
  if (name === '') return [required(path)];
  return [...validateName(path, name, 'dns-label'), ...(known.has(name) ? [duplicate(path, name)] : [])];
}

const MAX_ISCSI_CHARS = 64;

const KINDS = Object.entries(VOLUME_KINDS);

function validateVolume(volume: JsonObject, path: string, podName: string): FieldError[] {
  const given = KINDS.filter(([kind]) => volume[kind] !== undefined);
  if (given.length === 0) return [required(path, 'must specify a volume type')];
  return [
    ...given.flatMap(([kind, validate], at) =>
      at === 0
        ? validate(part(volume, kind), `${path}.${kind}`)
        : [forbiddenField(`${path}.${kind}`, 'may not specify more than 1 volume type')],
    ),
    ...validateNameWith(volume, path, podName),
  ];
}

/** Two kinds of volumes make names of the volume's own. */
function validateNameWith(volume: JsonObject, path: string, podName: string): FieldError[] {
  const name = text(volume.name);
  const iscsi = part(volume, 'iscsi');
  const errors: FieldError[] = [];
  if (iscsi.initiatorName !== undefined && `${name}:${text(iscsi.targetPortal)}`.length > MAX_ISCSI_CHARS) {
    const why =
      'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
    errors.push(invalidValue(`${path}.name`, name, why));
  }
  if (volume.ephemeral !== undefined && podName !== '' && name !== '') {
    const claim = `${podName}-${name}`;
    for (const why of checkName(claim, 'dns-subdomain'))
      errors.push(invalidValue(`${path}.name`, name, `PVC name "${claim}": ${why}`));
  }
  return errors;
}
