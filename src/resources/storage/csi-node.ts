import type { CSINode, CSINodeDriver } from '../../api/types/storage/v1.ts';
import { equalExcept } from '../../object/equality.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkQualifiedName } from '../../object/text-formats.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { goNodeDriver } from '../rules/go-structs.ts';
import { mustBeNonNegative } from '../rules/numbers.ts';
import { mustBeDriverName } from './csi-driver.ts';

export const csinodes = define<CSINode>({
  group: 'storage.k8s.io',
  resource: 'csinodes',
  kind: 'CSINode',
  namespaced: false,
  versions: [{ version: 'v1', type: 'storage/v1.CSINode' }],
  table: {
    columns: [nameColumn(), column('Drivers', 0, 'integer'), column('Age')],
    cells: (node, now) => [node.metadata.name ?? '', node.spec?.drivers?.length ?? 0, age(node, now)],
  },
  strategy: {
    allowUnconditionalUpdate: false,
    returnsDeletedObject: true,
    validate: checked(validate),
    validateUpdate: checkedUpdate(validateUpdate),
  },
});

function validate(root: FieldPath, { spec = {} }: CSINode): void {
  const names = new Set<string>();
  for (const [at, driver] of root.field('spec').field('drivers').each(spec.drivers)) {
    const { name = '', nodeID = '', allocatable, topologyKeys } = driver;
    mustBeDriverName(at.field('name'), name);
    mustBeNodeId(at.field('nodeID'), nodeID);
    mustBeNonNegative(at.field('allocatable').field('count'), allocatable?.count);
    if (names.has(name)) at.field('name').duplicate(name);
    validateTopologyKeys(at, topologyKeys ?? []);
    names.add(name);
  }
}

const MAX_NODE_ID_CHARS = 256;

function mustBeNodeId(at: FieldPath, id: string): void {
  if (id === '') at.required();
  else if (id.length > MAX_NODE_ID_CHARS) at.invalid(id, `must be ${MAX_NODE_ID_CHARS} characters or less`);
}

/** Messages name the driver, not the key. */
function validateTopologyKeys(at: FieldPath, keys: readonly string[]): void {
  const seen = new Set<string>();
  for (const key of keys) {
    if (key === '') at.required();
    if (seen.has(key)) at.duplicate(key);
    at.invalidFor(key, checkQualifiedName(key));
    seen.add(key);
  }
}

/** Drivers come and go, but one that stays does not change, except for how many volumes it can attach (since 1.33). */
function validateUpdate(root: FieldPath, { spec }: CSINode, { spec: old }: CSINode): void {
  const before = new Map((old?.drivers ?? []).map((driver) => [driver.name, driver]));
  const ignored = root.isOn('MutableCSINodeAllocatableCount') ? ['allocatable'] : [];
  const isChanged = (driver: CSINodeDriver): boolean =>
    before.has(driver.name) && !equalExcept(driver, before.get(driver.name) ?? {}, ignored);
  const at = root.minor < 33 ? root.field('CSINodeDriver') : root.field('spec').field('drivers');
  for (const driver of spec?.drivers ?? [])
    if (isChanged(driver)) at.invalid(goNodeDriver(driver), 'field is immutable');
}
