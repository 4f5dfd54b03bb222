import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, invalidValue, required } from '../../object/field-errors.ts';
import { checkName } from '../../object/formats.ts';
import { part, text } from '../../object/parts.ts';
import { has, toObject } from '../validation/fields.ts';
import { parseSemanticVersion } from '../validation/semantic-version.ts';
import { longerThan, validateQualifiedName } from './validate-names.ts';

const MAX_FACTS = 32;
const MAX_VALUE = 64;
const VALUES = ['bool', 'int', 'string', 'version'] as const;

/** A device with what is known of it: attributes and capacities. */
export function validateDevice(device: JsonObject, path: string): FieldError[] {
  const name = text(device.name);
  return [
    ...eachInvalid(`${path}.name`, name, checkName(name, 'dns-label')),
    ...(has(device, 'basic')
      ? validateFacts(part(device, 'basic'), `${path}.basic`)
      : [required(`${path}.basic`)]),
  ];
}

function validateFacts(basic: JsonObject, path: string): FieldError[] {
  const attributes = Object.entries(part(basic, 'attributes'));
  const capacities = Object.keys(part(basic, 'capacity'));
  const amount = attributes.length + capacities.length;
  const why = `the total number of attributes and capacities must not exceed ${MAX_FACTS}`;
  return [
    ...attributes.flatMap(([name, attribute]) => [
      ...validateQualifiedName(name, `${path}.attributes`),
      ...validateAttribute(toObject(attribute), `${path}.attributes[${name}]`),
    ]),
    ...capacities.flatMap((name) => validateQualifiedName(name, `${path}.capacity`)),
    ...(amount > MAX_FACTS ? [invalidValue(path, amount, why)] : []),
  ];
}

function validateAttribute(attribute: JsonObject, path: string): FieldError[] {
  const given = VALUES.filter((name) => has(attribute, name));
  const errors: FieldError[] = [];
  if (has(attribute, 'version') && parseSemanticVersion(text(attribute.version)) === undefined) {
    const why = 'must be a string compatible with semver.org spec 2.0.0';
    errors.push(invalidValue(`${path}.version`, text(attribute.version), why));
  }
  for (const name of ['string', 'version'])
    if (Buffer.byteLength(text(attribute[name])) > MAX_VALUE)
      errors.push(longerThan(`${path}.${name}`, MAX_VALUE));
  if (given.length === 0) errors.push(required(path, 'exactly one value must be specified'));
  if (given.length > 1) errors.push(invalidValue(path, attribute, 'exactly one field must be specified'));
  return errors;
}
