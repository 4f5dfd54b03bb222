import type { ObjectFieldSelector, ResourceFieldSelector } from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { checkQualifiedName } from '../../../object/text-formats.ts';

/** Fields of a pod that its variables and files can show. Lists are in the order of the messages. */
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

export function validateFieldRef(
  at: FieldPath,
  { fieldPath: field = '', apiVersion = '' }: ObjectFieldSelector,
  allowed: readonly string[],
): void {
  if (apiVersion === 'v1' && allowed.includes(field)) return;
  const path = at.field('fieldPath');
  const refuse = (why: string): void => path.invalid(field, `error converting fieldPath: ${why}`);
  const [of, key] = splitSubscript(field) ?? [];
  if (field === '') path.required();
  else if (apiVersion !== 'v1') refuse(`unsupported pod version: ${apiVersion}`);
  else if (key !== undefined) {
    if (of === 'metadata.annotations')
      at.invalidFor(key.toLowerCase(), checkQualifiedName(key.toLowerCase()));
    else if (of === 'metadata.labels') at.invalidFor(key, checkQualifiedName(key));
    else refuse(`field label does not support subscript: ${field}`);
  } else if (!KNOWN_FIELDS.has(field)) refuse(`field label not supported: ${field}`);
  else {
    const meant = field === 'spec.host' ? 'spec.nodeName' : field;
    if (!allowed.includes(meant)) path.notSupported(meant, allowed);
  }
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

/** A volume belongs to no container, so a file in one must name the container of its resources. */
export function validateResourceFieldRef(
  at: FieldPath,
  { resource = '', containerName = '', divisor = '0' }: ResourceFieldSelector,
  place: 'container' | 'volume',
): void {
  if (place === 'volume' && containerName === '') at.field('containerName').required();
  else if (resource === '') at.field('resource').required();
  else if (!RESOURCES.includes(resource) && !HUGE_PAGES.test(resource))
    at.field('resource').notSupported(resource, RESOURCES);
  if (divisor !== '' && divisor !== '0') validateDivisor(at.field('divisor'), resource, divisor);
}

const SIZES = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

function validateDivisor(at: FieldPath, resource: string, divisor: string): void {
  if (/^(limits|requests)\.cpu$/.test(resource)) {
    if (divisor !== '1m' && divisor !== '1')
      at.invalid(resource, "only divisor's values 1m and 1 are supported with the cpu resource");
    return;
  }
  const kind = sizeKind(resource);
  if (kind === undefined || SIZES.includes(divisor)) return;
  at.invalid(resource, `only divisor's values ${SIZES.join(', ')} are supported with the ${kind} resource`);
}

function sizeKind(resource: string): string | undefined {
  if (/^(limits|requests)\.memory$/.test(resource)) return 'memory';
  if (/^(limits|requests)\.ephemeral-storage$/.test(resource)) return 'local ephemeral storage';
  return HUGE_PAGES.test(resource) ? 'hugepages' : undefined;
}
