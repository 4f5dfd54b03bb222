import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { duplicate, eachInvalid, invalidValue, required } from '../../object/field-errors.ts';
import { checkQualifiedName } from '../../object/formats.ts';
import { part, parts, text } from '../../object/parts.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { goNodeDriver } from '../validation/go-structs.ts';
import { each, strings, validateNonNegative } from '../validation/values.ts';
import { validateDriverName } from './validation/csi-names.ts';

const MAX_NODE_ID_CHARS = 256;

export const csinodes = define({
  group: 'storage.k8s.io',
  resource: 'csinodes',
  kind: 'CSINode',
  namespaced: false,
  versions: [{ version: 'v1', type: 'storage/v1.CSINode' }],
  table: {
    columns: [nameColumn(), column('Drivers', 0, 'integer'), column('Age')],
    cells: (node, now) => [
      node.metadata.name ?? '',
      parts(part(node, 'spec'), 'drivers').length,
      age(node, now),
    ],
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    returnsDeletedObject: true,
    validate: (node) => validateDrivers(parts(part(node, 'spec'), 'drivers'), 'spec.drivers'),
    validateUpdate,
  },
});

function validateDrivers(drivers: readonly JsonObject[], path: string): FieldError[] {
  const names = new Set<string>();
  return each(drivers, path, (driver, at) => {
    const name = text(driver.name);
    const errors = [
      ...validateDriverName(name, `${at}.name`),
      ...validateNodeId(text(driver.nodeID), `${at}.nodeID`),
      ...validateNonNegative(`${at}.allocatable.count`, part(driver, 'allocatable').count),
      ...(names.has(name) ? [duplicate(`${at}.name`, name)] : []),
      ...validateTopologyKeys(strings(driver, 'topologyKeys'), at),
    ];
    names.add(name);
    return errors;
  });
}

function validateNodeId(id: string, path: string): FieldError[] {
  if (id === '') return [required(path)];
  return id.length > MAX_NODE_ID_CHARS
    ? [invalidValue(path, id, `must be ${MAX_NODE_ID_CHARS} characters or less`)]
    : [];
}

/** Mistakes in keys are told of the driver. */
function validateTopologyKeys(keys: readonly string[], driverPath: string): FieldError[] {
  return keys.flatMap((key, index) => [
    ...(key === '' ? [required(driverPath)] : []),
    ...(keys.indexOf(key) < index ? [duplicate(driverPath, key)] : []),
    ...eachInvalid(driverPath, key, checkQualifiedName(key)),
  ]);
}

/** Drivers come and go, but one that stays stays as it is. */
function validateUpdate(node: ApiObject, old: ApiObject): FieldError[] {
  const before = parts(part(old, 'spec'), 'drivers');
  return parts(part(node, 'spec'), 'drivers')
    .filter((driver) => before.some((one) => one.name === driver.name && !equal(one, driver)))
    .map((driver) => invalidValue('CSINodeDriver', goNodeDriver(driver), 'field is immutable'));
}
