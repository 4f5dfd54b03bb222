import { SYSTEM_PRIORITIES } from '../../api/system-priorities.ts';
import type { PriorityClass } from '../../api/types/scheduling/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import type { Cell } from '../../registry/resource-definition.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { mustNotChange } from '../rules/immutable.ts';

const COLUMNS = [
  nameColumn(),
  column('Value', 0, 'integer'),
  column('Global-Default', 0, 'boolean'),
  column('Age'),
];

const cells = (priority: PriorityClass, now: number): readonly Cell[] => [
  priority.metadata.name ?? '',
  priority.value ?? 0,
  priority.globalDefault === true,
  age(priority, now),
];

export const priorityclasses = define<PriorityClass>({
  group: 'scheduling.k8s.io',
  resource: 'priorityclasses',
  kind: 'PriorityClass',
  namespaced: false,
  shortNames: ['pc'],
  versions: [{ version: 'v1', type: 'scheduling/v1.PriorityClass' }],
  table: {
    columns: [...COLUMNS, column('PreemptionPolicy')],
    cells: (priority, now) => [...cells(priority, now), priority.preemptionPolicy ?? ''],
  },
  olderTables: [{ until: 32, columns: COLUMNS, cells }],
  strategy: {
    tracksGeneration: true,
    validate: checked(validate),
    validateUpdate: checkedUpdate(validateUpdate),
    whyKept: (name) =>
      Object.hasOwn(SYSTEM_PRIORITIES, name)
        ? 'this is a system priority class and cannot be deleted'
        : undefined,
  },
});

const HIGHEST_OF_USERS = 1_000_000_000;
const SYSTEM_PREFIX = 'system-';

function validate(at: FieldPath, priority: PriorityClass): void {
  const { metadata, value = 0 } = priority;
  if (metadata.name?.startsWith(SYSTEM_PREFIX) === true) {
    const wrong = whyNoSystemClass(metadata.name, priority);
    const why = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: ${wrong}`;
    if (wrong !== undefined) at.field('metadata').field('name').forbidden(why);
  } else if (value > HIGHEST_OF_USERS)
    at.field('value').forbidden(`maximum allowed value of a user defined priority is ${HIGHEST_OF_USERS}`);
}

function whyNoSystemClass(name: string, { value = 0, globalDefault }: PriorityClass): string | undefined {
  const known = SYSTEM_PRIORITIES[name]?.value;
  if (known === undefined) return `${name} is not a known system priority class`;
  if (value !== known) return `value of ${name} PriorityClass must be ${known}`;
  return globalDefault === true ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

function validateUpdate(
  at: FieldPath,
  { value = 0, preemptionPolicy }: PriorityClass,
  old: PriorityClass,
): void {
  if (value !== (old.value ?? 0)) at.field('value').forbidden('may not be changed in an update.');
  mustNotChange(at.field('preemptionPolicy'), preemptionPolicy, old.preemptionPolicy);
}
