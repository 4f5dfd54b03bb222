import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { invalidValue, required } from '../../object/field-errors.ts';
import { part, parts, text } from '../../object/parts.ts';
import { validateConditions } from '../validation/conditions.ts';
import { validateImmutableField } from '../validation/immutable.ts';

const resourceOf = (migration: ApiObject): JsonObject => part(migration, 'spec', 'resource');

export function validateMigration(migration: ApiObject): FieldError[] {
  return ['resource', 'version'].flatMap((name) =>
    text(resourceOf(migration)[name]) === ''
      ? [required(`spec.resource.${name}`, `${name} is required`)]
      : [],
  );
}

/** Kubernetes names these fields without where they stand. */
export function validateMigrationUpdate(migration: ApiObject, old: ApiObject): FieldError[] {
  return ['group', 'version', 'resource'].flatMap((name) =>
    validateImmutableField(name, text(resourceOf(migration)[name]), text(resourceOf(old)[name])),
  );
}

export function validateMigrationStatus(migration: ApiObject, old: ApiObject): FieldError[] {
  const status = part(migration, 'status');
  return [
    ...validateVersion(text(status.resourceVersion), text(part(old, 'status').resourceVersion)),
    ...validateConditions(parts(status, 'conditions').map(toCondition), 'status.conditions'),
    ...validateProgress(migration, old),
  ];
}

/** Conditions of this alpha group name their time otherwise. */
const toCondition = ({ lastUpdateTime, ...condition }: JsonObject): JsonObject => ({
  ...condition,
  lastTransitionTime: lastUpdateTime,
});

function validateVersion(version: string, old: string): FieldError[] {
  const path = 'status.resourceVersion';
  const errors: FieldError[] = [];
  if (version !== '' && !/^[+-]?\d+$/.test(version)) {
    const quoted = JSON.stringify(version);
    const why = `failed to parse resource version ${quoted}: strconv.ParseInt: parsing ${quoted}: invalid syntax`;
    errors.push(invalidValue(path, version, why));
  } else if (version.startsWith('-') && Number(version) < 0) {
    errors.push(invalidValue(path, Number(version), 'must be greater than or equal to 0'));
  }
  if (old !== '' && old !== version)
    errors.push(invalidValue(path, version, 'resourceVersion cannot be updated'));
  return errors;
}

/** A migration runs, then succeeds or fails, and stays so. */
function validateProgress(migration: ApiObject, old: ApiObject): FieldError[] {
  const is = (object: ApiObject, type: string): boolean =>
    parts(part(object, 'status'), 'conditions').find((condition) => condition.type === type)?.status ===
    'True';
  const [succeeded, failed] = [is(migration, 'Succeeded'), is(migration, 'Failed')];
  const running = is(migration, 'Running');
  const mistakes: readonly (readonly [boolean, string])[] = [
    [succeeded && failed, 'Both success and failed conditions cannot be true at the same time'],
    [succeeded && running, 'Running condition cannot be true when success condition is true'],
    [failed && running, 'Running condition cannot be true when failed condition is true'],
    [is(old, 'Succeeded') && !succeeded, 'Success condition cannot be set to false once it is true'],
    [is(old, 'Failed') && !failed, 'Failed condition cannot be set to false once it is true'],
  ];
  const { conditions } = part(migration, 'status');
  return mistakes.flatMap(([made, why]) =>
    made ? [invalidValue('status.conditions', conditions, why)] : [],
  );
}
