import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { addInvalid, forbiddenField, invalidValue, tooLong } from '../../../object/field-errors.ts';
import { checkQualifiedName } from '../../../object/formats.ts';
import { text } from '../../../object/parts.ts';
import { containersOf } from '../containers-of.ts';
import { APP_ARMOR_PREFIX, SECCOMP_CONTAINER_PREFIX, SECCOMP_POD } from '../profiles.ts';
import { validateDescendingPath } from './paths.ts';

type Annotations = Readonly<Record<string, string>>;

/** Pods that a node agent reads from files, as it shows them to the server. */
const MIRROR = 'kubernetes.io/config.mirror';
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
const MAX_BYTES = 256 * 1024;
const MAX_INT32 = 2 ** 31 - 1;

/** Keys and size, for metadata inside of objects. */
export function validateAnnotations(annotations: Annotations, path: string, errors: FieldError[]): void {
  let size = 0;
  for (const [key, value] of Object.entries(annotations)) {
    size += key.length + Buffer.byteLength(value);
    addInvalid(errors, path, key, checkQualifiedName(key.toLowerCase()));
  }
  if (size > MAX_BYTES) errors.push(tooLong(path, MAX_BYTES));
}

/** Annotations that mean something to a pod. */
export function validatePodAnnotations(
  annotations: Annotations,
  spec: JsonObject,
  path: string,
  errors: FieldError[],
): void {
  const mirror = annotations[MIRROR];
  if (mirror !== undefined && text(spec.nodeName) === '') {
    const why = 'must set spec.nodeName if mirror pod annotation is set';
    errors.push(invalidValue(`${path}[${MIRROR}]`, mirror, why));
  }
  const cost = annotations[DELETION_COST];
  if (cost !== undefined && !isDeletionCost(cost))
    errors.push(invalidValue(`${path}[${DELETION_COST}]`, cost, 'must be a 32bit integer'));
  for (const key in annotations) {
    const value = annotations[key] ?? '';
    if (key === SECCOMP_POD || key.startsWith(SECCOMP_CONTAINER_PREFIX))
      errors.push(...validateSeccomp(value, `${path}.${key}`));
    if (key.startsWith(APP_ARMOR_PREFIX))
      errors.push(...validateAppArmor(key.slice(APP_ARMOR_PREFIX.length), value, spec, `${path}[${key}]`));
  }
}

/** Written the one way integers are: no sign for plus, no leading zeros. */
const isDeletionCost = (value: string): boolean =>
  /^(0|-?[1-9]\d*)$/.test(value) && Math.abs(Number(value)) <= MAX_INT32;

const SECCOMP_PROFILES = ['runtime/default', 'docker/default', 'unconfined'];

function validateSeccomp(profile: string, path: string): FieldError[] {
  if (SECCOMP_PROFILES.includes(profile)) return [];
  if (profile.startsWith('localhost/'))
    return validateDescendingPath(profile.slice('localhost/'.length), path);
  return [invalidValue(path, profile, 'must be a valid seccomp profile')];
}

function validateAppArmor(container: string, profile: string, spec: JsonObject, path: string): FieldError[] {
  const known = containersOf(spec, '').some(({ container: { name } }) => name === container);
  const valid = ['', 'runtime/default', 'unconfined'].includes(profile) || profile.startsWith('localhost/');
  return [
    ...(known ? [] : [invalidValue(path, container, 'container not found')]),
    ...(valid ? [] : [invalidValue(path, profile, `invalid AppArmor profile name: "${profile}"`)]),
  ];
}

/** Who confines a container, and whose a mirror is, cannot change. */
export function validatePodAnnotationsUpdate(
  annotations: Annotations,
  old: Annotations,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  const refuse = (key: string): void => {
    const what = whatIsFixed(key);
    if (what === undefined || annotations[key] === old[key]) return;
    const verb = old[key] === undefined ? 'add' : 'remove or update';
    errors.push(forbiddenField(`${path}[${key}]`, `may not ${verb} ${what}`));
  };
  for (const key of Object.keys(old)) refuse(key);
  for (const key of Object.keys(annotations)) if (!Object.hasOwn(old, key)) refuse(key);
  return errors;
}

function whatIsFixed(key: string): string | undefined {
  if (key.startsWith(APP_ARMOR_PREFIX)) return 'AppArmor annotations';
  return key === MIRROR ? 'mirror pod annotation' : undefined;
}

export const isMirrorPod = (annotations: Annotations): boolean => annotations[MIRROR] !== undefined;
