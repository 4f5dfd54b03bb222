import type { PodSpec } from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { checkQualifiedName } from '../../../object/text-formats.ts';
import { containersOf } from '../containers-of.ts';
import {
  APP_ARMOR_PREFIX,
  holdsAppArmor,
  SECCOMP_CONTAINER_PREFIX,
  SECCOMP_POD,
} from '../security-profiles.ts';
import { mustDescend } from './file-paths.ts';

type Annotations = Readonly<Record<string, string>>;

/** Pods that a node agent reads from files, as it shows them to the server. */
const MIRROR = 'kubernetes.io/config.mirror';
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
const MAX_BYTES = 256 * 1024;
const MAX_INT32 = 2 ** 31 - 1;

/** Keys and size, for metadata inside of objects. */
export function validateAnnotations(at: FieldPath, annotations: Annotations): void {
  let sizeBytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    sizeBytes += key.length + Buffer.byteLength(value);
    at.invalidFor(key, checkQualifiedName(key.toLowerCase()));
  }
  if (sizeBytes > MAX_BYTES) at.tooLong(MAX_BYTES);
}

/** Annotations that mean something to a pod. */
export function validatePodAnnotations(at: FieldPath, annotations: Annotations, spec: PodSpec): void {
  const mirror = annotations[MIRROR];
  if (mirror !== undefined && (spec.nodeName ?? '') === '')
    at.item(MIRROR).invalid(mirror, 'must set spec.nodeName if mirror pod annotation is set');
  const cost = annotations[DELETION_COST];
  if (cost !== undefined && at.isOn('PodDeletionCost') && !isDeletionCost(cost))
    at.item(DELETION_COST).invalid(cost, 'must be a 32bit integer');
  const containers = holdsAppArmor(annotations) ? namesOfContainers(spec) : NONE;
  for (const [key, value] of Object.entries(annotations)) {
    if (key === SECCOMP_POD || key.startsWith(SECCOMP_CONTAINER_PREFIX))
      validateSeccomp(at.field(key), value);
    if (key.startsWith(APP_ARMOR_PREFIX))
      validateAppArmor(at.item(key), value, { container: key.slice(APP_ARMOR_PREFIX.length), containers });
  }
}

const NONE: ReadonlySet<string> = new Set();

const namesOfContainers = (spec: PodSpec): ReadonlySet<string> =>
  new Set(containersOf(spec).map(({ container: { name = '' } }) => name));

/** Written the one way integers are: no sign for plus, no leading zeros. */
const isDeletionCost = (value: string): boolean =>
  /^(0|-?[1-9]\d*)$/.test(value) && Math.abs(Number(value)) <= MAX_INT32;

const SECCOMP_PROFILES = ['runtime/default', 'docker/default', 'unconfined'];

function validateSeccomp(at: FieldPath, profile: string): void {
  if (profile.startsWith('localhost/')) mustDescend(at, profile.slice('localhost/'.length));
  else if (!SECCOMP_PROFILES.includes(profile)) at.invalid(profile, 'must be a valid seccomp profile');
}

function validateAppArmor(
  at: FieldPath,
  profile: string,
  { container, containers }: { readonly container: string; readonly containers: ReadonlySet<string> },
): void {
  const isProfile =
    ['', 'runtime/default', 'unconfined'].includes(profile) || profile.startsWith('localhost/');
  if (!containers.has(container)) at.invalid(container, 'container not found');
  if (!isProfile) at.invalid(profile, `invalid AppArmor profile name: "${profile}"`);
}

/** The AppArmor profile of a container and the annotation of a mirror pod cannot change. */
export function validatePodAnnotationsUpdate(
  at: FieldPath,
  annotations: Annotations,
  old: Annotations,
): void {
  for (const key of new Set([...Object.keys(old), ...Object.keys(annotations)])) {
    const what = whatIsFixed(key);
    if (what === undefined || annotations[key] === old[key]) continue;
    const verb = old[key] === undefined ? 'add' : 'remove or update';
    at.item(key).forbidden(`may not ${verb} ${what}`);
  }
}

function whatIsFixed(key: string): string | undefined {
  if (key.startsWith(APP_ARMOR_PREFIX)) return 'AppArmor annotations';
  return key === MIRROR ? 'mirror pod annotation' : undefined;
}

export const isMirrorPod = (annotations: Annotations): boolean => annotations[MIRROR] !== undefined;
