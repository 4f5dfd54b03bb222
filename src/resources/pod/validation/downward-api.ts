import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { eachInvalid, invalidValue, notSupported, required } from '../../../object/field-errors.ts';
import { checkQualifiedName } from '../../../object/formats.ts';
import { text } from '../../../object/parts.ts';

/** What a pod may learn of itself, through variables and files. Lists are in the order messages show them. */
export const FIELDS_OF_VARIABLES = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

export const FIELDS_OF_FILES = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

/** Fields that have a name at all, whether or not they are offered in a place. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...FIELDS_OF_VARIABLES,
  ...FIELDS_OF_FILES,
  'spec.restartPolicy',
  'spec.schedulerName',
  'spec.host',
  'status.phase',
]);

/** `metadata.labels['app']` → [`metadata.labels`, `app`]. */
function splitSubscript(field: string): [string, string] | undefined {
  const match = /^(.+?)\['(.*)'\]$/s.exec(field);
  return match === null ? undefined : [match[1] ?? '', match[2] ?? ''];
}

export function validateFieldRef(ref: JsonObject, allowed: readonly string[], path: string): FieldError[] {
  const field = text(ref.fieldPath);
  const version = text(ref.apiVersion);
  if (version === 'v1' && allowed.includes(field)) return [];
  if (field === '') return [required(`${path}.fieldPath`)];
  const wrong = (why: string) => [
    invalidValue(`${path}.fieldPath`, field, `error converting fieldPath: ${why}`),
  ];
  if (version !== 'v1') return wrong(`unsupported pod version: ${version}`);
  const subscripted = splitSubscript(field);
  if (subscripted !== undefined) {
    const [of, key] = subscripted;
    if (of === 'metadata.annotations')
      return eachInvalid(path, key.toLowerCase(), checkQualifiedName(key.toLowerCase()));
    if (of === 'metadata.labels') return eachInvalid(path, key, checkQualifiedName(key));
    return wrong(`field label does not support subscript: ${field}`);
  }
  if (!KNOWN_FIELDS.has(field)) return wrong(`field label not supported: ${field}`);
  const meant = field === 'spec.host' ? 'spec.nodeName' : field;
  return allowed.includes(meant) ? [] : [notSupported(`${path}.fieldPath`, meant, allowed)];
}

const RESOURCES = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const HUGE_PAGES = /^(limits|requests)\.hugepages-/;

/** A volume belongs to no container, so a file must say whose resources it shows. */
export function validateResourceFieldRef(ref: JsonObject, path: string, inVolume: boolean): FieldError[] {
  const resource = text(ref.resource);
  const errors: FieldError[] = [];
  if (inVolume && text(ref.containerName) === '') errors.push(required(`${path}.containerName`));
  else if (resource === '') errors.push(required(`${path}.resource`));
  else if (!RESOURCES.includes(resource) && !HUGE_PAGES.test(resource))
    errors.push(notSupported(`${path}.resource`, resource, RESOURCES));
  return [...errors, ...validateDivisor(resource, text(ref.divisor, '0'), `${path}.divisor`)];
}

const SIZES = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

function validateDivisor(resource: string, divisor: string, path: string): FieldError[] {
  if (divisor === '0') return [];
  if (/^(limits|requests)\.cpu$/.test(resource)) {
    const why = "only divisor's values 1m and 1 are supported with the cpu resource";
    return divisor === '1m' || divisor === '1' ? [] : [invalidValue(path, resource, why)];
  }
  const kind = sizeKind(resource);
  if (kind === undefined || SIZES.includes(divisor)) return [];
  const why = `only divisor's values ${SIZES.join(', ')} are supported with the ${kind} resource`;
  return [invalidValue(path, resource, why)];
}

function sizeKind(resource: string): string | undefined {
  if (/^(limits|requests)\.memory$/.test(resource)) return 'memory';
  if (/^(limits|requests)\.ephemeral-storage$/.test(resource)) return 'local ephemeral storage';
  return HUGE_PAGES.test(resource) ? 'hugepages' : undefined;
}
