import type { AppArmorProfile, SeccompProfile } from '../../api/types/core/v1.ts';

/** Seccomp and AppArmor profiles, which were annotations before they were fields. */

export const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';
export const SECCOMP_CONTAINER_PREFIX = 'container.seccomp.security.alpha.kubernetes.io/';
export const APP_ARMOR_PREFIX = 'container.apparmor.security.beta.kubernetes.io/';

type Annotations = Readonly<Record<string, string>>;
type Profile = SeccompProfile | AppArmorProfile;

/** Few pods still have such annotations; the others need no lookups by container name. */
export function holdsSeccomp(annotations: Annotations | undefined): boolean {
  for (const key in annotations)
    if (key === SECCOMP_POD || key.startsWith(SECCOMP_CONTAINER_PREFIX)) return true;
  return false;
}

export function holdsAppArmor(annotations: Annotations | undefined): boolean {
  for (const key in annotations) if (key.startsWith(APP_ARMOR_PREFIX)) return true;
  return false;
}

const UNCONFINED = 'unconfined';
const RUNTIME_DEFAULT = 'runtime/default';
const LOCALHOST = 'localhost/';

/** The annotation that equals the field; undefined: none. */
export function toAnnotation(profile: Profile): string | undefined {
  switch (profile.type) {
    case 'Unconfined':
      return UNCONFINED;
    case 'RuntimeDefault':
      return RUNTIME_DEFAULT;
    case 'Localhost':
      return profile.localhostProfile === undefined ? undefined : `${LOCALHOST}${profile.localhostProfile}`;
    default:
      return undefined;
  }
}

/** The field that equals the annotation; undefined: none. */
export function fromAnnotation(annotation: string): Profile | undefined {
  if (annotation === UNCONFINED) return { type: 'Unconfined' };
  if (annotation === RUNTIME_DEFAULT) return { type: 'RuntimeDefault' };
  const localhostProfile = annotation.startsWith(LOCALHOST) ? annotation.slice(LOCALHOST.length) : '';
  const valid = localhostProfile !== '' && localhostProfile.trim() === localhostProfile;
  return valid ? { type: 'Localhost', localhostProfile } : undefined;
}

/** The field in which an annotation contradicts a profile; undefined: none. */
export function contradiction(profile: Profile, annotation: string): 'type' | 'localhostProfile' | undefined {
  switch (profile.type) {
    case 'Unconfined':
      return annotation === UNCONFINED ? undefined : 'type';
    case 'RuntimeDefault':
      return annotation === RUNTIME_DEFAULT ? undefined : 'type';
    case 'Localhost':
      if (!annotation.startsWith(LOCALHOST)) return 'type';
      return annotation === toAnnotation(profile) ? undefined : 'localhostProfile';
    default:
      return undefined;
  }
}
