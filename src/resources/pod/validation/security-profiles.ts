import type {
  AppArmorProfile,
  Container,
  EphemeralContainer,
  PodSpec,
  SeccompProfile,
} from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { containersOf } from '../containers-of.ts';
import {
  APP_ARMOR_PREFIX,
  contradiction,
  holdsAppArmor,
  holdsSeccomp,
  SECCOMP_CONTAINER_PREFIX,
  SECCOMP_POD,
} from '../profiles.ts';
import { mustDescend } from './paths.ts';

/** Seccomp and AppArmor: a profile by its kind, or one that lies on the node. */

export function validateSeccompProfile(at: FieldPath, profile: SeccompProfile): void {
  const { type = '', localhostProfile: file } = profile;
  const path = at.field('localhostProfile');
  if (type === '') at.field('type').required('type is required when seccompProfile is set');
  if (type !== 'Localhost') {
    if (file !== undefined) path.invalid(profile, 'can only be set when seccomp type is Localhost');
  } else if (file === undefined) path.required('must be set when seccomp type is Localhost');
  else mustDescend(path, file);
}

const MAX_PATH_CHARS = 4095;

export function validateAppArmorProfile(at: FieldPath, profile: AppArmorProfile): void {
  const { type = '', localhostProfile: name } = profile;
  const path = at.field('localhostProfile');
  if (type === '') at.field('type').required('type is required when appArmorProfile is set');
  else if (type === 'Localhost') mustBeProfileName(path, name ?? '');
  else if (name !== undefined && (type === 'RuntimeDefault' || type === 'Unconfined'))
    path.invalid(name, 'can only be set when AppArmor type is Localhost');
}

function mustBeProfileName(at: FieldPath, name: string): void {
  if (name.trim() !== name) at.invalid(name, 'must not be padded with whitespace');
  else if (name === '') at.required('must be set when AppArmor type is Localhost');
  else if (name.length > MAX_PATH_CHARS) {
    const message = `Too long: may not be longer than ${MAX_PATH_CHARS}`;
    at.add([{ type: 'FieldValueTooLong', field: String(at), message }]);
  }
}

type Annotations = Readonly<Record<string, string>>;

/** Where profiles are given both as annotations and as fields, both must say the same. `at` is the pod spec. */
export function validateProfileAnnotations(at: FieldPath, annotations: Annotations, spec: PodSpec): void {
  if (!holdsSeccomp(annotations) && !holdsAppArmor(annotations)) return;
  const { seccompProfile } = spec.securityContext ?? {};
  const ofPod = annotations[SECCOMP_POD];
  if (seccompProfile !== undefined && ofPod !== undefined)
    mustAgree(at.field('securityContext').field('seccompProfile'), seccompProfile, ofPod, 'seccomp');
  for (const { container, at: path } of containersOf(spec, at))
    validateContainerAnnotations(path.field('securityContext'), annotations, container, spec);
}

function validateContainerAnnotations(
  at: FieldPath,
  annotations: Annotations,
  { name = '', securityContext = {} }: Container | EphemeralContainer,
  spec: PodSpec,
): void {
  const seccomp = annotations[`${SECCOMP_CONTAINER_PREFIX}${name}`] ?? '';
  const appArmor = annotations[`${APP_ARMOR_PREFIX}${name}`] ?? '';
  if (seccomp !== '')
    mustAgree(at.field('seccompProfile'), securityContext.seccompProfile ?? {}, seccomp, 'seccomp');
  if (appArmor !== '' && spec.os?.name !== 'windows') {
    const profile = securityContext.appArmorProfile ?? spec.securityContext?.appArmorProfile ?? {};
    mustAgree(at.field('appArmorProfile'), profile, appArmor, 'apparmor');
  }
}

function mustAgree(
  at: FieldPath,
  profile: SeccompProfile | AppArmorProfile,
  annotation: string,
  kind: 'seccomp' | 'apparmor',
): void {
  const field = contradiction(profile, annotation);
  if (field === undefined) return;
  const what = field === 'type' ? 'type' : 'profile';
  at.field(field).forbidden(`${kind} ${what} in annotation and field must match`);
}
