import type { JsonObject, JsonValue } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { duplicate, invalidValue, required } from '../../../object/field-errors.ts';
import { objectOf, objectsOf, text } from '../../../object/parts.ts';
import { addAll, addRange, eachAt, numbers, strings } from '../../validation/values.ts';
import { validateAppArmorProfile, validateSeccompProfile } from './security-profiles.ts';
import { validateWindowsOptions } from './windows-options.ts';

/** Rights and identity of a pod's processes, for all containers and for one. */

const ID_RANGE = { least: 0, most: 2 ** 31 - 1 };

function addId(errors: FieldError[], path: string, name: string, id: JsonValue | undefined): void {
  if (id !== undefined) addRange(errors, `${path}.${name}`, id, ID_RANGE);
}

/** What pods and containers both have. */
function validateShared(context: JsonObject, path: string, errors: FieldError[]): void {
  addId(errors, path, 'runAsUser', context.runAsUser);
  addId(errors, path, 'runAsGroup', context.runAsGroup);
  const { seccompProfile, windowsOptions, appArmorProfile } = context;
  if (seccompProfile !== undefined)
    addAll(errors, validateSeccompProfile(objectOf(seccompProfile), `${path}.seccompProfile`));
  if (windowsOptions !== undefined)
    addAll(errors, validateWindowsOptions(objectOf(windowsOptions), `${path}.windowsOptions`));
  if (appArmorProfile !== undefined)
    addAll(errors, validateAppArmorProfile(objectOf(appArmorProfile), `${path}.appArmorProfile`));
}

/** `hostUsers`: the users of the container are those of the node. */
export function validateSecurityContext(
  context: JsonObject,
  path: string,
  hostUsers: boolean,
  errors: FieldError[],
): void {
  validateShared(context, path, errors);
  if (hostUsers && context.procMount === 'Unmasked') {
    const why = '`hostUsers` must be false to use `Unmasked`';
    errors.push(invalidValue(`${path}.procMount`, context.procMount, why));
  }
  if (context.allowPrivilegeEscalation !== false) return;
  const refused = 'cannot set `allowPrivilegeEscalation` to false and';
  if (context.privileged === true)
    errors.push(invalidValue(path, context, `${refused} \`privileged\` to true`));
  if (strings(objectOf(context.capabilities), 'add').includes('CAP_SYS_ADMIN'))
    errors.push(invalidValue(path, context, `${refused} \`capabilities.Add\` CAP_SYS_ADMIN`));
}

/** Of the pod: its `securityContext`, with what of the host its spec shares. */
export function validatePodSecurityContext(spec: JsonObject, path: string, errors: FieldError[]): void {
  if (spec.securityContext !== undefined) {
    const context = objectOf(spec.securityContext);
    validateShared(context, path, errors);
    addId(errors, path, 'fsGroup', context.fsGroup);
    if (context.supplementalGroups !== undefined)
      eachAt(numbers(context, 'supplementalGroups'), `${path}.supplementalGroups`, (id, at) =>
        addRange(errors, at, id, ID_RANGE),
      );
    if (context.sysctls !== undefined)
      validateSysctls(objectsOf(context.sysctls), `${path}.sysctls`, spec, errors);
  }
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    const why = 'ShareProcessNamespace and HostPID cannot both be enabled';
    errors.push(invalidValue(`${path}.shareProcessNamespace`, true, why));
  }
}

const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const SYSCTL_TEXT =
  'must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';
const MAX_SYSCTL_CHARS = 253;

function validateSysctls(
  sysctls: readonly JsonObject[],
  path: string,
  spec: JsonObject,
  errors: FieldError[],
): void {
  const seen = new Set<string>();
  eachAt(sysctls, path, (sysctl, at) => {
    const name = text(sysctl.name);
    if (name === '') errors.push(required(`${at}.name`));
    else if (name.length > MAX_SYSCTL_CHARS || !SYSCTL.test(name))
      errors.push(invalidValue(`${at}.name`, name, SYSCTL_TEXT));
    else if (seen.has(name)) errors.push(duplicate(`${at}.name`, name));
    seen.add(name);
    const namespace = namespaceOf(name);
    if (namespace !== undefined && spec[namespace] === true)
      errors.push(invalidValue(`${at}.name`, name, `may not be specified when '${namespace}' is true`));
  });
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

/** Of `.` and `/`, the first one separates; names of devices may hold the other: `net/ipv4/conf/eth0.1/x` (sysctl.d(5)). */
function dotted(sysctl: string): string {
  if (/^[^./]*\//.test(sysctl))
    return sysctl.replace(/[./]/g, (separator) => (separator === '/' ? '.' : '/'));
  return sysctl;
}

/** Without the users of the host there is no sharing of anything else with it. */
export function validateHostUsers(spec: JsonObject, path: string): FieldError[] {
  if (spec.hostUsers !== false) return [];
  const shared = { hostNetwork: 'hostNetwork', hostPID: 'HostPID', hostIPC: 'HostIPC' };
  return Object.entries(shared)
    .filter(([field]) => spec[field] === true)
    .map(([, name]) => ({
      type: 'FieldValueForbidden' as const,
      field: `${path}.${name}`,
      message: 'Forbidden: when `pod.Spec.HostUsers` is false',
    }));
}
