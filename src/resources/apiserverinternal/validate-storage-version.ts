import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, invalidValue, required } from '../../object/field-errors.ts';
import { checkName, checkQualifiedName } from '../../object/formats.ts';
import { part, parts, text } from '../../object/parts.ts';
import { duplicates, has, joinedInvalid } from '../validation/fields.ts';
import { strings } from '../validation/values.ts';

/** Named `<group>.<resource>`. */
export function validateStorageVersion(storage: ApiObject): FieldError[] {
  const { name = '' } = storage.metadata;
  return eachInvalid('metadata.name', name, checkStorageName(name));
}

function checkStorageName(name: string): string[] {
  const dot = name.lastIndexOf('.');
  if (dot < 0) return ['name must be in the form of <group>.<resource>'];
  const group = checkName(name.slice(0, dot), 'dns-subdomain');
  const resource = checkName(name.slice(dot + 1), 'dns-1035-label');
  return [
    ...group.map((why) => `the group segment ${why}`),
    ...resource.map((why) => `the resource segment ${why}`),
  ];
}

export function validateStorageVersionStatus(storage: ApiObject): FieldError[] {
  const status = part(storage, 'status');
  const servers = parts(status, 'storageVersions');
  const path = 'status.storageVersions';
  return [
    ...duplicates(
      servers.map(({ apiServerID }) => text(apiServerID)),
      (at) => `${path}[${at}].apiServerID`,
    ),
    ...servers.flatMap((server, at) => validateServer(server, `${path}[${at}]`)),
    ...validateCommon(status, servers),
    ...validateConditions(parts(status, 'conditions')),
  ];
}

function validateServer(server: JsonObject, path: string): FieldError[] {
  const id = text(server.apiServerID);
  const encoding = text(server.encodingVersion);
  const decodable = strings(server, 'decodableVersions');
  const errors = [
    ...eachInvalid(`${path}.apiServerID`, id, checkName(id, 'dns-subdomain')),
    ...joinedInvalid(`${path}.encodingVersion`, encoding, checkApiVersion(encoding)),
    ...decodable.flatMap((version, at) =>
      joinedInvalid(`${path}.decodableVersions[${at}]`, version, checkApiVersion(version)),
    ),
  ];
  if (!decodable.includes(encoding)) {
    const why = `decodableVersions must include encodingVersion ${encoding}`;
    errors.push(invalidValue(`${path}.decodableVersions`, decodable, why));
  }
  return [...errors, ...validateServed(strings(server, 'servedVersions'), decodable, path)];
}

function validateServed(served: readonly string[], decodable: readonly string[], path: string): FieldError[] {
  return served.flatMap((version, at) => {
    const field = `${path}.servedVersions[${at}]`;
    const why = `individual served version : ${version} must be included in decodableVersions : [${decodable.join(' ')}]`;
    return [
      ...joinedInvalid(field, version, checkApiVersion(version)),
      ...(decodable.includes(version) ? [] : [invalidValue(field, version, why)]),
    ];
  });
}

/** The version that all servers write, if there is one. */
function validateCommon(status: JsonObject, servers: readonly JsonObject[]): FieldError[] {
  const path = 'status.commonEncodingVersion';
  const versions = new Set(servers.map(({ encodingVersion }) => text(encodingVersion)));
  const [actual] = versions.size === 1 ? versions : [];
  const given = has(status, 'commonEncodingVersion') ? text(status.commonEncodingVersion) : undefined;
  if (actual === given) return [];
  if (actual === undefined) {
    const why =
      'should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet';
    return [invalidValue(path, given, why)];
  }
  return given === undefined
    ? [invalidValue(path, null, `the common encoding version is ${actual}`)]
    : [invalidValue(path, given, `the actual common encoding version is ${actual}`)];
}

/** Kubernetes names these paths without `conditions`. */
function validateConditions(conditions: readonly JsonObject[]): FieldError[] {
  return conditions.flatMap(({ type, status, reason, message }, at) => {
    const path = `status[${at}]`;
    const errors: FieldError[] = [];
    const first = conditions.findLastIndex((other, before) => before < at && other.type === type);
    if (first >= 0) {
      const why = `the type of the condition is not unique, it also appears in conditions[${first}]`;
      errors.push(invalidValue(`${path}.type`, type, why));
    }
    errors.push(...eachInvalid(`${path}.type`, text(type), checkQualifiedName(text(type))));
    errors.push(...eachInvalid(`${path}.status`, text(status), checkQualifiedName(text(status))));
    if (text(reason) === '') errors.push(required(`${path}.reason`, 'reason cannot be empty'));
    if (text(message) === '') errors.push(required(`${path}.message`, 'message cannot be empty'));
    return errors;
  });
}

const VERSION_TEXT =
  "an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end " +
  "with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?') with an optional DNS " +
  "subdomain prefix and '/' (e.g. 'example.com/MyVersion')";

function checkApiVersion(apiVersion: string): string[] {
  const pieces = apiVersion.split('/');
  if (pieces.length > 2) return [VERSION_TEXT];
  const version = pieces.at(-1) ?? '';
  const group = pieces.length === 2 ? pieces[0] : undefined;
  const check = (value: string, rule: 'dns-subdomain' | 'dns-1035-label'): readonly string[] =>
    value === '' ? ['must be non-empty'] : checkName(value, rule);
  return [
    ...(group === undefined ? [] : check(group, 'dns-subdomain').map((why) => `group part: ${why}`)),
    ...check(version, 'dns-1035-label').map((why) => `version part: ${why}`),
  ];
}
