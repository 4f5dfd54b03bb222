import type {
  Container,
  EphemeralContainer,
  PodSpec,
  WindowsSecurityContextOptions,
} from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { mustBeName } from '../../rules/name-rules.ts';
import { containersOf } from '../containers-of.ts';

/** Rules of containers on Windows. */

const MAX_CREDENTIAL_KIB = 64;

export function validateWindowsOptions(at: FieldPath, options: WindowsSecurityContextOptions): void {
  const { gmsaCredentialSpecName: specName, gmsaCredentialSpec: spec, runAsUserName: user } = options;
  if (specName !== undefined) mustBeName(at.field('gmsaCredentialSpecName'), specName, 'dns-subdomain');
  if (spec !== undefined) mustBeCredentialSpec(at.field('gmsaCredentialSpec'), spec);
  if (user !== undefined) at.field('runAsUserName').invalidFor(user, userNameProblems(user));
}

function mustBeCredentialSpec(at: FieldPath, spec: string): void {
  if (spec === '') at.invalid(spec, 'gmsaCredentialSpec cannot be an empty string');
  if (Buffer.byteLength(spec) > MAX_CREDENTIAL_KIB * 1024)
    at.invalid(spec, `gmsaCredentialSpec size must be under ${MAX_CREDENTIAL_KIB} KiB`);
}

const MAX_DOMAIN_CHARS = 256;
const MAX_USER_CHARS = 104;
/** A NetBIOS name is at most fifteen characters; a domain name follows RFC 1035. */
const NETBIOS = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const DOMAIN =
  /^[a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?)*$/;

/** `DOMAIN\user`, where the domain may be left out. */
function userNameProblems(name: string): string[] {
  if (name === '') return ['runAsUserName cannot be an empty string'];
  if (/\p{Cc}/u.test(name)) return ['runAsUserName cannot contain control characters'];
  const pieces = name.split('\\');
  if (pieces.length > 2) return ['runAsUserName cannot contain more than one backslash'];
  const user = pieces.at(-1) ?? '';
  const domain = pieces.length === 2 ? (pieces[0] ?? '') : undefined;
  return [...(domain === undefined ? [] : domainProblems(domain)), ...userProblems(user)];
}

function domainProblems(domain: string): string[] {
  const problems: string[] = [];
  if (domain.length >= MAX_DOMAIN_CHARS)
    problems.push(`runAsUserName's Domain length must be under ${MAX_DOMAIN_CHARS} characters`);
  if (!NETBIOS.test(domain) && !DOMAIN.test(domain))
    problems.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  return problems;
}

function userProblems(user: string): string[] {
  const problems: string[] = [];
  if (user === '') problems.push("runAsUserName's User cannot be empty");
  if (user.length > MAX_USER_CHARS)
    problems.push(`runAsUserName's User length must not be longer than ${MAX_USER_CHARS} characters`);
  if (/^[. ]+$/.test(user)) problems.push("runAsUserName's User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user))
    problems.push('runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]');
  return problems;
}

const hostProcessOf = (holder: PodSpec | Container | EphemeralContainer): boolean | undefined =>
  holder.securityContext?.windowsOptions?.hostProcess;

/** Containers that are processes of the host: all of a pod's, or none. `at` is the pod spec. */
export function validateHostProcess(at: FieldPath, spec: PodSpec): void {
  const ofPod = hostProcessOf(spec);
  let containers = 0;
  let onHost = 0;
  for (const { container, at: path } of containersOf(spec, at)) {
    const own = hostProcessOf(container);
    containers += 1;
    if ((own ?? ofPod) === true) onHost += 1;
    if (ofPod !== undefined && own !== undefined && own !== ofPod)
      path
        .field('securityContext')
        .field('windowsOptions')
        .field('hostProcess')
        .invalid(own, `pod hostProcess value must be identical if both are specified, was ${ofPod}`);
  }
  if (onHost === 0) return;
  if (onHost < containers)
    at.invalid(
      '',
      'If pod contains any hostProcess containers then all containers must be HostProcess containers',
    );
  if (spec.hostNetwork !== true)
    at.field('hostNetwork').invalid(
      false,
      'hostNetwork must be true if pod contains any hostProcess containers',
    );
}

const NOT_OF_PODS = ['hostUsers', 'hostPID', 'hostIPC', 'shareProcessNamespace'] as const;
const NOT_OF_POD_CONTEXTS = [
  'appArmorProfile',
  'seLinuxOptions',
  'seLinuxChangePolicy',
  'seccompProfile',
  'fsGroup',
  'fsGroupChangePolicy',
  'sysctls',
  'runAsUser',
  'runAsGroup',
  'supplementalGroups',
  'supplementalGroupsPolicy',
] as const;
const NOT_OF_CONTAINERS = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
] as const;

function refuse<Field extends string>(
  at: FieldPath,
  owner: { readonly [name in Field]?: unknown },
  fields: readonly Field[],
): void {
  for (const field of fields)
    if (owner[field] !== undefined) at.field(field).forbidden('cannot be set for a windows pod');
}

/** Fields that only Linux has. */
export function validateWindowsPod(at: FieldPath, spec: PodSpec): void {
  refuse(at.field('securityContext'), spec.securityContext ?? {}, NOT_OF_POD_CONTEXTS);
  refuse(at, spec, NOT_OF_PODS);
  for (const { container, at: path } of containersOf(spec, at))
    refuse(path.field('securityContext'), container.securityContext ?? {}, NOT_OF_CONTAINERS);
}

/** Fields that only Windows has. */
export function validateLinuxPod(at: FieldPath, spec: PodSpec): void {
  for (const { container, at: path } of [{ container: spec, at }, ...containersOf(spec, at)])
    if (container.securityContext?.windowsOptions !== undefined)
      path
        .field('securityContext')
        .field('windowsOptions')
        .forbidden('windows options cannot be set for a linux pod');
}
