import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { required } from '../../object/field-errors.ts';
import { part, parts, text } from '../../object/parts.ts';
import { has } from '../validation/fields.ts';
import { MAX_CONFIGURATIONS, validateConfiguration, validateRequestNames } from './validate-configuration.ts';
import {
  validateDistinct,
  validateDriverName,
  validateFullyQualifiedName,
  validateSize,
} from './validate-names.ts';
import { MAX_REQUESTS, validateRequest } from './validate-requests.ts';

const MAX_CONSTRAINTS = 32;

export const requestNames = (claimSpec: JsonObject): ReadonlySet<string> =>
  new Set(parts(part(claimSpec, 'devices'), 'requests').map(({ name }) => text(name)));

/** The spec of a claim, in a claim or in a template of claims. */
export function validateClaimSpec(spec: JsonObject, path: string): FieldError[] {
  const devices = part(spec, 'devices');
  const known = requestNames(spec);
  const controller = text(spec.controller);
  return [
    ...validateRequests(parts(devices, 'requests'), `${path}.devices.requests`),
    ...validateConstraints(parts(devices, 'constraints'), `${path}.devices.constraints`, known),
    ...validateConfigurations(parts(devices, 'config'), `${path}.devices.config`, known),
    ...(controller === '' ? [] : validateDriverName(controller, `${path}.controller`)),
  ];
}

function validateRequests(requests: readonly JsonObject[], path: string): FieldError[] {
  return [
    ...requests.flatMap((request, at) => validateRequest(request, `${path}[${at}]`)),
    ...validateSize(requests, MAX_REQUESTS, path),
    ...validateDistinct(
      requests.map(({ name }) => text(name)),
      (at) => `${path}[${at}].name`,
    ),
  ];
}

function validateConstraints(
  constraints: readonly JsonObject[],
  path: string,
  known: ReadonlySet<string>,
): FieldError[] {
  const errors = constraints.flatMap((constraint, at) => {
    const field = `${path}[${at}].matchAttribute`;
    return [
      ...validateRequestNames(constraint, `${path}[${at}]`, known),
      ...(has(constraint, 'matchAttribute')
        ? validateFullyQualifiedName(text(constraint.matchAttribute), field)
        : [required(field)]),
    ];
  });
  return [...errors, ...validateSize(constraints, MAX_CONSTRAINTS, path)];
}

function validateConfigurations(
  configurations: readonly JsonObject[],
  path: string,
  known: ReadonlySet<string>,
): FieldError[] {
  const errors = configurations.flatMap((configuration, at) => [
    ...validateRequestNames(configuration, `${path}[${at}]`, known),
    ...validateConfiguration(configuration, `${path}[${at}]`),
  ]);
  return [...errors, ...validateSize(configurations, MAX_CONFIGURATIONS, path)];
}
