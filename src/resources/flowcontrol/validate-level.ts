import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { forbiddenField, invalidValue, notSupported, required } from '../../object/field-errors.ts';
import { count, part, text } from '../../object/parts.ts';
import { has } from '../validation/fields.ts';
import { validateMandatoryLevel } from './mandatory.ts';
import { KEEP_ZERO_SHARES } from './priority-level-v1beta3.ts';

const MAX_QUEUES = 10_000_000;
/** A request's queues are chosen by one hash of this many bits. */
const HASH_BITS = 60;

export function validatePriorityLevel(level: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  if (level.metadata.annotations?.[KEEP_ZERO_SHARES] !== undefined)
    errors.push(forbiddenField('metadata.annotations', `annotation '${KEEP_ZERO_SHARES}' is forbidden`));
  const spec = part(level, 'spec');
  if ((level.metadata.name === 'exempt') !== (spec.type === 'Exempt')) {
    const why = "type must be 'Exempt' if and only if name is 'exempt'";
    errors.push(invalidValue('spec.type', text(spec.type), why));
  }
  return [...errors, ...validateType(spec), ...validateMandatoryLevel(level)];
}

function validateType(spec: JsonObject): FieldError[] {
  switch (spec.type) {
    case 'Exempt':
      return [
        ...(has(spec, 'limited')
          ? [forbiddenField('spec.limited', 'must be nil if the type is not Limited')]
          : []),
        ...(has(spec, 'exempt') ? validateShares(part(spec, 'exempt'), 'spec.exempt') : []),
      ];
    case 'Limited':
      return [
        ...(has(spec, 'exempt') ? [forbiddenField('spec.exempt', 'must be nil if the type is Limited')] : []),
        ...(has(spec, 'limited')
          ? validateLimited(part(spec, 'limited'), 'spec.limited')
          : [required('spec.limited', 'must not be empty when type is Limited')]),
      ];
    default:
      return [notSupported('spec.type', text(spec.type), ['Exempt', 'Limited'])];
  }
}

function validateShares(shares: JsonObject, path: string): FieldError[] {
  const nominal = count(shares.nominalConcurrencyShares);
  const lendable = count(shares.lendablePercent);
  const errors: FieldError[] = [];
  if (nominal < 0)
    errors.push(invalidValue(`${path}.nominalConcurrencyShares`, nominal, 'must be a non-negative integer'));
  if (lendable < 0 || lendable > 100)
    errors.push(invalidValue(`${path}.lendablePercent`, lendable, 'must be between 0 and 100, inclusive'));
  return errors;
}

function validateLimited(limited: JsonObject, path: string): FieldError[] {
  const borrowing = count(limited.borrowingLimitPercent);
  const why = 'if specified, must be a non-negative integer';
  return [
    ...validateShares(limited, path),
    ...validateResponse(part(limited, 'limitResponse'), `${path}.limitResponse`),
    ...(borrowing < 0 ? [invalidValue(`${path}.borrowingLimitPercent`, borrowing, why)] : []),
  ];
}

function validateResponse(response: JsonObject, path: string): FieldError[] {
  const queues = has(response, 'queuing');
  switch (response.type) {
    case 'Reject':
      return queues
        ? [forbiddenField(`${path}.queuing`, 'must be nil if limited.limitResponse.type is not Limited')]
        : [];
    case 'Queue':
      return queues
        ? validateQueuing(part(response, 'queuing'), `${path}.queuing`)
        : [required(`${path}.queuing`, 'must not be empty if limited.limitResponse.type is Limited')];
    default:
      return [notSupported(`${path}.type`, text(response.type), ['Queue', 'Reject'])];
  }
}

function validateQueuing(queuing: JsonObject, path: string): FieldError[] {
  const queues = count(queuing.queues);
  const errors: FieldError[] = [];
  for (const name of ['queueLengthLimit', 'queues']) {
    if (count(queuing[name]) <= 0)
      errors.push(invalidValue(`${path}.${name}`, count(queuing[name]), 'must be positive'));
  }
  if (queues > MAX_QUEUES)
    errors.push(invalidValue(`${path}.queues`, queues, `must not be greater than ${MAX_QUEUES}`));
  return [...errors, ...validateHand(count(queuing.handSize), queues, `${path}.handSize`)];
}

function validateHand(size: number, queues: number, path: string): FieldError[] {
  if (size <= 0) return [invalidValue(path, size, 'must be positive')];
  if (size > queues) return [invalidValue(path, size, `should not be greater than queues (${queues})`)];
  const why = `required entropy bits of deckSize ${queues} and handSize ${size} should not be greater than ${HASH_BITS}`;
  return Math.ceil(Math.log2(queues) * size) > HASH_BITS ? [invalidValue(path, size, why)] : [];
}
