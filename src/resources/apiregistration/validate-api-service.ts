import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, invalidValue, notSupported, required } from '../../object/field-errors.ts';
import { checkName, checkPort } from '../../object/formats.ts';
import { count, part, parts, text } from '../../object/parts.ts';
import { has } from '../validation/fields.ts';

const MAX_GROUP_PRIORITY = 20000;
const MAX_VERSION_PRIORITY = 1000;

export function validateApiService(service: ApiObject): FieldError[] {
  const spec = part(service, 'spec');
  const { name = '' } = service.metadata;
  const wanted = `${text(spec.version)}.${text(spec.group)}`;
  const why = `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`;
  return [
    ...(name === wanted ? [] : [invalidValue('metadata.name', name, why)]),
    ...validateGroupVersion(text(spec.group), text(spec.version)),
    ...validatePriority(spec, 'groupPriorityMinimum', MAX_GROUP_PRIORITY),
    ...validatePriority(spec, 'versionPriority', MAX_VERSION_PRIORITY),
    ...(has(spec, 'service') ? validateRemote(spec) : validateLocal(spec)),
  ];
}

/** Only the legacy group, which has the version v1 alone, has no name. */
function validateGroupVersion(group: string, version: string): FieldError[] {
  const errors: FieldError[] = [];
  if (group === '' && version !== 'v1')
    errors.push(required('spec.group', 'only v1 may have an empty group and it better be legacy kube'));
  if (group !== '') errors.push(...eachInvalid('spec.group', group, checkName(group, 'dns-subdomain')));
  return [...errors, ...eachInvalid('spec.version', version, checkName(version, 'dns-1035-label'))];
}

function validatePriority(spec: JsonObject, name: string, most: number): FieldError[] {
  const priority = count(spec[name]);
  return priority > 0 && priority <= most
    ? []
    : [invalidValue(`spec.${name}`, priority, `must be positive and less than ${most}`)];
}

function validateLocal(spec: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  if (text(spec.caBundle) !== '') {
    const size = `${Buffer.from(text(spec.caBundle), 'base64').length} bytes`;
    errors.push(invalidValue('spec.caBundle', size, 'local APIServices may not have a caBundle'));
  }
  if (spec.insecureSkipTLSVerify === true) {
    const why = 'local APIServices may not have insecureSkipTLSVerify';
    errors.push(invalidValue('spec.insecureSkipTLSVerify', true, why));
  }
  return errors;
}

function validateRemote(spec: JsonObject): FieldError[] {
  const service = part(spec, 'service');
  const errors = ['namespace', 'name'].flatMap((name) =>
    text(service[name]) === '' ? [required(`spec.service.${name}`)] : [],
  );
  const port = count(service.port);
  const wrong = checkPort(port);
  if (wrong.length > 0)
    errors.push(invalidValue('spec.service.port', port, `port is not valid: ${wrong.join(', ')}`));
  if (spec.insecureSkipTLSVerify === true && text(spec.caBundle) !== '') {
    const why = 'may not be true if caBundle is present';
    errors.push(invalidValue('spec.insecureSkipTLSVerify', true, why));
  }
  return errors;
}

const STATUSES = ['True', 'False', 'Unknown'] as const;

export function validateApiServiceStatus(service: ApiObject): FieldError[] {
  return parts(part(service, 'status'), 'conditions').flatMap(({ status }, at) =>
    STATUSES.some((known) => known === status)
      ? []
      : [notSupported(`status.conditions[${at}].status`, text(status), STATUSES)],
  );
}
