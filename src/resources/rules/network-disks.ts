import type { FieldPath } from '../../object/field-path.ts';

/** What volumes of pods and persistent volumes say of disks over the network in the same words. */

interface Flocker {
  readonly datasetName?: string;
  readonly datasetUUID?: string;
}

export function validateFlocker(at: FieldPath, { datasetName = '', datasetUUID = '' }: Flocker): void {
  if (datasetName === '' && datasetUUID === '') at.required('one of datasetName and datasetUUID is required');
  if (datasetName !== '' && datasetUUID !== '')
    at.invalid('resource', 'datasetName and datasetUUID can not be specified simultaneously');
  if (datasetName.includes('/')) at.field('datasetName').invalid(datasetName, "must not contain '/'");
}

interface Quobyte {
  readonly registry?: string;
  readonly tenant?: string;
}

const MAX_TENANT_CHARS = 64;
const HOST_PORT = /^(\[[^[\]]*\]|[^:[\]]*):[^:]*$/;
const PAIRS = 'must be a host:port pair or multiple pairs separated by commas';

export function validateQuobyteRegistry(at: FieldPath, { registry = '', tenant = '' }: Quobyte): void {
  if (registry === '') {
    at.field('registry').required(PAIRS);
    return;
  }
  if (tenant.length > MAX_TENANT_CHARS) {
    at.field('tenant').required(
      `must be a UUID and may not exceed a length of ${MAX_TENANT_CHARS} characters`,
    );
    return;
  }
  for (const pair of registry.split(','))
    if (!HOST_PORT.test(pair)) at.field('registry').invalid(registry, PAIRS);
}
