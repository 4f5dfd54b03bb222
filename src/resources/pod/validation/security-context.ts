import type {
  AppArmorProfile,
  Container,
  EphemeralContainer,
  PodSecurityContext,
  PodSpec,
  SeccompProfile,
  SecurityContext,
  Sysctl,
} from '../../../api/types/core/v1.ts';
import { longerThan } from '../../../object/field-errors.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { mustBeOneOf } from '../../rules/name-rules.ts';
import { mustBeWithin } from '../../rules/numbers.ts';
import { containersOf } from '../containers-of.ts';
import {
  APP_ARMOR_PREFIX,
  contradiction,
  holdsAppArmor,
  holdsSeccomp,
  SECCOMP_CONTAINER_PREFIX,
  SECCOMP_POD,
} from '../security-profiles.ts';
import { mustDescend } from './file-paths.ts';
import { validateWindowsOptions } from './windows-options.ts';

/** Rights and identity of a pod's processes, for all containers and for one. */

const IDS = { least: 0, most: 2 ** 31 - 1 };

/** Fields that pods and containers both have. */
function validateShared(at: FieldPath, context: SecurityContext | PodSecurityContext): void {
  const { runAsUser, runAsGroup, seccompProfile, windowsOptions, appArmorProfile } = context;
  mustBeWithin(at.field('runAsUser'), runAsUser, IDS);
  mustBeWithin(at.field('runAsGroup'), runAsGroup, IDS);
  if (seccompProfile !== undefined) validateSeccompProfile(at.field('seccompProfile'), seccompProfile);
  if (windowsOptions !== undefined) validateWindowsOptions(at.field('windowsOptions'), windowsOptions);
  if (appArmorProfile !== undefined) validateAppArmorProfile(at.field('appArmorProfile'), appArmorProfile);
}

/** `hostUsers`: the users of the container are those of the node. */
export function validateSecurityContext(at: FieldPath, context: SecurityContext, hostUsers: boolean): void {
  validateShared(at, context);
  if (hostUsers && context.procMount === 'Unmasked')
    at.field('procMount').invalid(context.procMount, '`hostUsers` must be false to use `Unmasked`');
  if (context.allowPrivilegeEscalation !== false) return;
  const refused = 'cannot set `allowPrivilegeEscalation` to false and';
  if (context.privileged === true) at.invalid(context, `${refused} \`privileged\` to true`);
  if (context.capabilities?.add?.includes('CAP_SYS_ADMIN') === true)
    at.invalid(context, `${refused} \`capabilities.Add\` CAP_SYS_ADMIN`);
}

const LABELLINGS = ['MountOption', 'Recursive'];

/** Validates a pod's `securityContext`, with the host namespaces in its spec. */
export function validatePodSecurityContext(at: FieldPath, spec: PodSpec): void {
  const { securityContext: context } = spec;
  if (context !== undefined) {
    validateShared(at, context);
    mustBeWithin(at.field('fsGroup'), context.fsGroup, IDS);
    for (const [path, id] of at.field('supplementalGroups').each(context.supplementalGroups))
      mustBeWithin(path, id, IDS);
    const labellings = at.isOn('SELinuxMount') ? LABELLINGS : ['Recursive'];
    mustBeOneOf(at.field('seLinuxChangePolicy'), context.seLinuxChangePolicy, labellings);
    validateSysctls(at.field('sysctls'), context.sysctls, spec);
  }
  if (spec.shareProcessNamespace === true && spec.hostPID === true)
    at.field('shareProcessNamespace').invalid(
      true,
      'ShareProcessNamespace and HostPID cannot both be enabled',
    );
}

const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const SYSCTL_TEXT =
  'must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';
const MAX_SYSCTL_CHARS = 253;

function validateSysctls(at: FieldPath, sysctls: readonly Sysctl[] | undefined, spec: PodSpec): void {
  const seen = new Set<string>();
  for (const [item, { name = '' }] of at.each(sysctls)) {
    const path = item.field('name');
    if (name === '') path.required();
    else if (name.length > MAX_SYSCTL_CHARS || !SYSCTL.test(name)) path.invalid(name, SYSCTL_TEXT);
    else if (seen.has(name)) path.duplicate(name);
    seen.add(name);
    const namespace = namespaceOf(name);
    if (namespace !== undefined && spec[namespace] === true)
      path.invalid(name, `may not be specified when '${namespace}' is true`);
  }
}

/** Which sharing with the host would make a kernel parameter the host's (namespaces(7)). */
function namespaceOf(sysctl: string): 'hostNetwork' | 'hostIPC' | undefined {
  const name = dotted(sysctl);
  if (name.startsWith('net.')) return 'hostNetwork';
  const ipc = name.startsWith('fs.mqueue.') || IPC.has(name);
  return ipc ? 'hostIPC' : undefined;
}

const IPC: ReadonlySet<string> = new Set(
  ['sem', 'shmall', 'shmmax', 'shmmni', 'shm_rmid_forced', 'shm', 'msgmax', 'msgmnb', 'msgmni', 'msg'].map(
    (name) => `kernel.${name}`,
  ),
);

/** The first of `.` and `/` is the separator; device names may contain the other: `net/ipv4/conf/eth0.1/x` (sysctl.d(5)). */
function dotted(sysctl: string): string {
  if (/^[^./]*\//.test(sysctl))
    return sysctl.replace(/[./]/g, (separator) => (separator === '/' ? '.' : '/'));
  return sysctl;
}

const SHARED_WITH_HOST = [
  ['hostNetwork', 'hostNetwork'],
  ['hostPID', 'HostPID'],
  ['hostIPC', 'HostIPC'],
] as const;

/** Without the host's users a pod can share no other host namespace. Messages have Go's names for two of the fields. */
export function validateHostUsers(at: FieldPath, spec: PodSpec): void {
  if (spec.hostUsers !== false) return;
  for (const [field, name] of SHARED_WITH_HOST)
    if (spec[field] === true && !(field === 'hostNetwork' && at.isOn('UserNamespacesHostNetworkSupport')))
      at.field(name).forbidden('when `pod.Spec.HostUsers` is false');
}

/** Validates seccomp and AppArmor profiles: a type, or a profile on the node. */

function validateSeccompProfile(at: FieldPath, profile: SeccompProfile): void {
  const { type = '', localhostProfile: file } = profile;
  const path = at.field('localhostProfile');
  if (type === '') at.field('type').required('type is required when seccompProfile is set');
  if (type !== 'Localhost') {
    if (file !== undefined) path.invalid(profile, 'can only be set when seccomp type is Localhost');
  } else if (file === undefined) path.required('must be set when seccomp type is Localhost');
  else mustDescend(path, file);
}

const MAX_PATH_CHARS = 4095;

function validateAppArmorProfile(at: FieldPath, profile: AppArmorProfile): void {
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
    at.add([longerThan(at.toString(), MAX_PATH_CHARS)]);
  }
}

type Annotations = Readonly<Record<string, string>>;

/** Profiles in annotations and fields must agree. `at`: the pod spec. */
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
