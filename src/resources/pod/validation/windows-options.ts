import type { JsonObject, JsonValue } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { forbiddenField, invalidValue } from '../../../object/field-errors.ts';
import { objectOf, objectsOf, part, text } from '../../../object/parts.ts';
import { validateName } from '../../validation/values.ts';
import { CONTAINER_LISTS, containersOf } from '../containers-of.ts';

/** What is particular to containers on Windows. */

const MAX_CREDENTIAL_KIB = 64;

export function validateWindowsOptions(options: JsonObject, path: string): FieldError[] {
  const { gmsaCredentialSpecName: specName, gmsaCredentialSpec: spec, runAsUserName: user } = options;
  return [
    ...(specName === undefined
      ? []
      : validateName(`${path}.gmsaCredentialSpecName`, text(specName), 'dns-subdomain')),
    ...(spec === undefined ? [] : validateCredentialSpec(text(spec), `${path}.gmsaCredentialSpec`)),
    ...(user === undefined
      ? []
      : userNameProblems(text(user)).map((why) => invalidValue(`${path}.runAsUserName`, user, why))),
  ];
}

function validateCredentialSpec(spec: string, path: string): FieldError[] {
  if (spec === '') return [invalidValue(path, spec, 'gmsaCredentialSpec cannot be an empty string')];
  if (Buffer.byteLength(spec) <= MAX_CREDENTIAL_KIB * 1024) return [];
  return [invalidValue(path, spec, `gmsaCredentialSpec size must be under ${MAX_CREDENTIAL_KIB} KiB`)];
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

const hostProcessOf = (holder: JsonObject): JsonValue | undefined =>
  objectOf(objectOf(holder.securityContext).windowsOptions).hostProcess;

/** Containers that are processes of the host: all of a pod's, or none. */
export function validateHostProcess(spec: JsonObject, path: string, errors: FieldError[]): void {
  const ofPod = hostProcessOf(spec);
  let containers = 0;
  let onHost = 0;
  for (const list of CONTAINER_LISTS) {
    let at = 0;
    for (const container of objectsOf(spec[list])) {
      const own = hostProcessOf(container);
      containers += 1;
      if ((own ?? ofPod) === true) onHost += 1;
      if (ofPod !== undefined && own !== undefined && own !== ofPod) {
        const why = `pod hostProcess value must be identical if both are specified, was ${ofPod}`;
        const field = `${path}.${list}[${at}].securityContext.windowsOptions.hostProcess`;
        errors.push(invalidValue(field, own, why));
      }
      at += 1;
    }
  }
  if (onHost > 0) validateOnHost(spec, path, onHost === containers, errors);
}

function validateOnHost(spec: JsonObject, path: string, all: boolean, errors: FieldError[]): void {
  if (!all) {
    const why =
      'If pod contains any hostProcess containers then all containers must be HostProcess containers';
    errors.push(invalidValue(path, '', why));
  }
  if (spec.hostNetwork !== true) {
    const why = 'hostNetwork must be true if pod contains any hostProcess containers';
    errors.push(invalidValue(`${path}.hostNetwork`, false, why));
  }
}

const NOT_OF_PODS = ['hostUsers', 'hostPID', 'hostIPC', 'shareProcessNamespace'];
const NOT_OF_POD_CONTEXTS = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'fsGroup',
  'fsGroupChangePolicy',
  'sysctls',
  'runAsUser',
  'runAsGroup',
  'supplementalGroups',
  'supplementalGroupsPolicy',
];
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
];

const forbidden = (object: JsonObject, fields: readonly string[], path: string): FieldError[] =>
  fields
    .filter((field) => object[field] !== undefined)
    .map((field) => forbiddenField(`${path}.${field}`, 'cannot be set for a windows pod'));

/** What only Linux has. */
export function validateWindowsPod(spec: JsonObject, path: string): FieldError[] {
  return [
    ...forbidden(part(spec, 'securityContext'), NOT_OF_POD_CONTEXTS, `${path}.securityContext`),
    ...forbidden(spec, NOT_OF_PODS, path),
    ...containersOf(spec, path).flatMap(({ container, path: at }) =>
      forbidden(part(container, 'securityContext'), NOT_OF_CONTAINERS, `${at}.securityContext`),
    ),
  ];
}

/** What only Windows has. */
export function validateLinuxPod(spec: JsonObject, path: string): FieldError[] {
  return [{ container: spec, path }, ...containersOf(spec, path)]
    .filter(({ container }) => part(container, 'securityContext').windowsOptions !== undefined)
    .map(({ path: at }) =>
      forbiddenField(`${at}.securityContext.windowsOptions`, 'windows options cannot be set for a linux pod'),
    );
}
