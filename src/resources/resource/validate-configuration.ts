import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, invalidValue, required } from '../../object/field-errors.ts';
import { checkName } from '../../object/formats.ts';
import { part, text } from '../../object/parts.ts';
import { has } from '../validation/fields.ts';
import { strings } from '../validation/values.ts';
import { validateDistinct, validateDriverName, validateSize } from './validate-names.ts';
import { MAX_REQUESTS } from './validate-requests.ts';

export const MAX_CONFIGURATIONS = 32;

/** Parameters that mean something to a driver and nothing to anybody else. */
export function validateConfiguration(configuration: JsonObject, path: string): FieldError[] {
  if (!has(configuration, 'opaque')) return [required(`${path}.opaque`)];
  const { driver, parameters } = part(configuration, 'opaque');
  return [
    ...validateDriverName(text(driver), `${path}.opaque.driver`),
    ...validateParameters(parameters, `${path}.opaque.parameters`),
  ];
}

function validateParameters(parameters: JsonObject[string], path: string): FieldError[] {
  if (parameters === undefined || parameters === null) return [required(path)];
  return typeof parameters === 'object' && !Array.isArray(parameters)
    ? []
    : [invalidValue(path, '<value omitted>', 'parameters must be a valid JSON object')];
}

/** A list of the names of requests in the same claim. */
export function validateRequestNames(
  owner: JsonObject,
  path: string,
  known: ReadonlySet<string>,
): FieldError[] {
  const names = strings(owner, 'requests');
  const pathOf = (at: number): string => `${path}.requests[${at}]`;
  return [
    ...names.flatMap((name, at) => validateRequestName(name, pathOf(at), known)),
    ...validateSize(names, MAX_REQUESTS, `${path}.requests`),
    ...validateDistinct(names, pathOf),
  ];
}

export function validateRequestName(name: string, path: string, known: ReadonlySet<string>): FieldError[] {
  return [
    ...eachInvalid(path, name, checkName(name, 'dns-label')),
    ...(known.has(name) ? [] : [invalidValue(path, name, 'must be the name of a request in the claim')]),
  ];
}
