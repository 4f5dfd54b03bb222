import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { SYSTEM_PRIORITIES } from '../../api/system-priorities.ts';
import { forbiddenField } from '../../object/field-errors.ts';
import { count } from '../../object/parts.ts';
import { validateImmutableField } from '../validation/immutable.ts';

const HIGHEST_OF_USERS = 1_000_000_000;
const SYSTEM_PREFIX = 'system-';

export function validatePriorityClass(priority: ApiObject): FieldError[] {
  const { name = '' } = priority.metadata;
  if (name.startsWith(SYSTEM_PREFIX)) {
    const wrong = whyNoSystemClass(name, count(priority.value), priority.globalDefault === true);
    if (wrong === undefined) return [];
    const why = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: ${wrong}`;
    return [forbiddenField('metadata.name', why)];
  }
  const why = `maximum allowed value of a user defined priority is ${HIGHEST_OF_USERS}`;
  return count(priority.value) > HIGHEST_OF_USERS ? [forbiddenField('value', why)] : [];
}

function whyNoSystemClass(name: string, value: number, isDefault: boolean): string | undefined {
  const known = SYSTEM_PRIORITIES[name]?.value;
  if (known === undefined) return `${name} is not a known system priority class`;
  if (value !== known) return `value of ${name} PriorityClass must be ${known}`;
  return isDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

export function validatePriorityClassUpdate(priority: ApiObject, old: ApiObject): FieldError[] {
  const changed = count(priority.value) !== count(old.value);
  return [
    ...(changed ? [forbiddenField('value', 'may not be changed in an update.')] : []),
    ...validateImmutableField('preemptionPolicy', priority.preemptionPolicy, old.preemptionPolicy),
  ];
}
