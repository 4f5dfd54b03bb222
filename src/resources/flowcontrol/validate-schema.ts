import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, invalidValue, notSupported, required } from '../../object/field-errors.ts';
import { checkName } from '../../object/formats.ts';
import { count, part, parts, text } from '../../object/parts.ts';
import { has } from '../validation/fields.ts';
import { validateMandatorySchema } from './mandatory.ts';
import { validateRules } from './validate-rules.ts';

const MAX_PRECEDENCE = 10000;
const DISTINGUISHERS = ['ByNamespace', 'ByUser'] as const;

export function validateFlowSchema(schema: ApiObject): FieldError[] {
  const spec = part(schema, 'spec');
  const level = text(part(spec, 'priorityLevelConfiguration').name);
  const levelPath = 'spec.priorityLevelConfiguration.name';
  return [
    ...validatePrecedence(count(spec.matchingPrecedence), schema.metadata.name ?? ''),
    ...validateDistinguisher(spec),
    ...(level === ''
      ? [required(levelPath, 'must reference a priority level')]
      : eachInvalid(levelPath, level, checkName(level, 'dns-subdomain'))),
    ...validateRules(parts(spec, 'rules'), 'spec.rules'),
    ...validateMandatorySchema(schema),
  ];
}

/** Precedence 1 comes before all others and belongs to the schema that exempts administrators. */
function validatePrecedence(precedence: number, name: string): FieldError[] {
  const path = 'spec.matchingPrecedence';
  if (precedence <= 0) return [invalidValue(path, precedence, 'must be a positive value')];
  if (precedence > MAX_PRECEDENCE)
    return [invalidValue(path, precedence, `must not be greater than ${MAX_PRECEDENCE}`)];
  return precedence === 1 && name !== 'exempt'
    ? [invalidValue(path, precedence, "only the schema named 'exempt' may have matchingPrecedence 1")]
    : [];
}

function validateDistinguisher(spec: JsonObject): FieldError[] {
  if (!has(spec, 'distinguisherMethod')) return [];
  const type = text(part(spec, 'distinguisherMethod').type);
  return DISTINGUISHERS.some((known) => known === type)
    ? []
    : [notSupported('spec.distinguisherMethod.type', type, DISTINGUISHERS)];
}
