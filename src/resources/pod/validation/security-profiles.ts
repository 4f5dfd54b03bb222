import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { forbiddenField, invalidValue, required } from '../../../object/field-errors.ts';
import { objectOf, objectsOf, part, text } from '../../../object/parts.ts';
import { addAll, eachAt } from '../../validation/values.ts';
import { CONTAINER_LISTS } from '../containers-of.ts';
import {
  APP_ARMOR_PREFIX,
  contradiction,
  holdsAppArmor,
  holdsSeccomp,
  SECCOMP_CONTAINER_PREFIX,
  SECCOMP_POD,
} from '../profiles.ts';
import { validateDescendingPath } from './paths.ts';

/** Seccomp and AppArmor: a profile by its kind, or one that lies on the node. */

export function validateSeccompProfile(profile: JsonObject, path: string): FieldError[] {
  const { type, localhostProfile: file } = profile;
  const at = `${path}.localhostProfile`;
  const errors =
    text(type) === '' ? [required(`${path}.type`, 'type is required when seccompProfile is set')] : [];
  if (type !== 'Localhost') {
    if (file === undefined) return errors;
    return [...errors, invalidValue(at, profile, 'can only be set when seccomp type is Localhost')];
  }
  if (file === undefined) return [required(at, 'must be set when seccomp type is Localhost')];
  return validateDescendingPath(text(file), at);
}

const MAX_PATH_CHARS = 4095;

export function validateAppArmorProfile(profile: JsonObject, path: string): FieldError[] {
  const { type, localhostProfile: name } = profile;
  const at = `${path}.localhostProfile`;
  if (text(type) === '') return [required(`${path}.type`, 'type is required when appArmorProfile is set')];
  if (type !== 'Localhost') {
    return name === undefined || (type !== 'RuntimeDefault' && type !== 'Unconfined')
      ? []
      : [invalidValue(at, name, 'can only be set when AppArmor type is Localhost')];
  }
  const trimmed = text(name).trim();
  if (trimmed !== text(name)) return [invalidValue(at, name, 'must not be padded with whitespace')];
  if (trimmed === '') return [required(at, 'must be set when AppArmor type is Localhost')];
  const message = `Too long: may not be longer than ${MAX_PATH_CHARS}`;
  return trimmed.length > MAX_PATH_CHARS ? [{ type: 'FieldValueTooLong', field: at, message }] : [];
}

type Annotations = Readonly<Record<string, string>>;

/** Where profiles are given both as annotations and as fields, both must say the same. */
export function validateProfileAnnotations(
  annotations: Annotations,
  spec: JsonObject,
  path: string,
  errors: FieldError[],
): void {
  if (!holdsSeccomp(annotations) && !holdsAppArmor(annotations)) return;
  const { seccompProfile } = part(spec, 'securityContext');
  const ofPod = annotations[SECCOMP_POD];
  if (seccompProfile !== undefined && ofPod !== undefined) {
    const at = `${path}.securityContext.seccompProfile`;
    errors.push(...contradicted(objectOf(seccompProfile), ofPod, { path: at, kind: 'seccomp' }));
  }
  for (const list of CONTAINER_LISTS)
    eachAt(objectsOf(spec[list]), `${path}.${list}`, (container, at) =>
      addAll(errors, validateContainerAnnotations(annotations, container, spec, `${at}.securityContext`)),
    );
}

function validateContainerAnnotations(
  annotations: Annotations,
  container: JsonObject,
  spec: JsonObject,
  path: string,
): FieldError[] {
  const name = text(container.name);
  const seccomp = annotations[`${SECCOMP_CONTAINER_PREFIX}${name}`] ?? '';
  const appArmor = annotations[`${APP_ARMOR_PREFIX}${name}`] ?? '';
  const errors: FieldError[] = [];
  if (seccomp !== '') {
    const profile = part(container, 'securityContext', 'seccompProfile');
    errors.push(...contradicted(profile, seccomp, { path: `${path}.seccompProfile`, kind: 'seccomp' }));
  }
  if (appArmor !== '' && part(spec, 'os').name !== 'windows') {
    const own = part(container, 'securityContext').appArmorProfile;
    const profile = part(own === undefined ? spec : container, 'securityContext', 'appArmorProfile');
    errors.push(...contradicted(profile, appArmor, { path: `${path}.appArmorProfile`, kind: 'apparmor' }));
  }
  return errors;
}

function contradicted(
  profile: JsonObject,
  annotation: string,
  { path, kind }: { path: string; kind: string },
): FieldError[] {
  const field = contradiction(profile, annotation);
  if (field === undefined) return [];
  const what = field === 'type' ? 'type' : 'profile';
  return [forbiddenField(`${path}.${field}`, `${kind} ${what} in annotation and field must match`)];
}
