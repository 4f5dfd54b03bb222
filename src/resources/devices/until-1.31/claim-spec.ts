import type { JsonValue } from '../../../api/json.ts';
import type {
  DeviceClaim,
  DeviceConfiguration,
  DeviceRequest,
  DeviceSelector,
  ResourceClaimSpec,
} from '../../../api/types/resource/v1alpha3.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { mustBeName, mustBeNamed } from '../../rules/name-rules.ts';
import { validateCount } from '../claim-rules.ts';
import {
  mustBeDistinct,
  mustBeDriverName,
  mustBeFullyQualifiedName,
  mustHaveAtMost,
} from '../device-names.ts';

/** The spec of a claim, in a claim or in a template of claims. */

const MAX_CONSTRAINTS = 32;
const MAX_SELECTORS = 32;

/** One device by default. */
export function setClaimDefaults({ devices = {} }: ResourceClaimSpec): void {
  for (const request of devices.requests ?? [])
    if (request.allocationMode === 'ExactCount') request.count ||= 1;
}

export function requestNamesOf({ devices = {} }: ResourceClaimSpec): ReadonlySet<string> {
  return new Set((devices.requests ?? []).map(({ name = '' }) => name));
}

export function validateClaimSpec(at: FieldPath, spec: ResourceClaimSpec): void {
  const { devices = {}, controller = '' } = spec;
  validateDevices(at.field('devices'), devices, requestNamesOf(spec));
  if (controller !== '') mustBeDriverName(at.field('controller'), controller);
}

function validateDevices(at: FieldPath, devices: DeviceClaim, known: ReadonlySet<string>): void {
  const { constraints = [], config = [] } = devices;
  validateRequests(at.field('requests'), devices.requests ?? []);
  for (const [path, { requests = [], matchAttribute }] of at.field('constraints').each(constraints)) {
    mustBeRequestNames(path.field('requests'), requests, known);
    if (matchAttribute === undefined) path.field('matchAttribute').required();
    else mustBeFullyQualifiedName(path.field('matchAttribute'), matchAttribute);
  }
  mustHaveAtMost(at.field('constraints'), MAX_CONSTRAINTS, constraints);
  for (const [path, configuration] of at.field('config').each(config)) {
    mustBeRequestNames(path.field('requests'), configuration.requests ?? [], known);
    validateConfiguration(path, configuration);
  }
  mustHaveAtMost(at.field('config'), MAX_CONFIGURATIONS, config);
}

function validateRequests(at: FieldPath, requests: readonly DeviceRequest[]): void {
  for (const [path, request] of at.each(requests)) validateRequest(path, request);
  mustHaveAtMost(at, MAX_REQUESTS, requests);
  const names = requests.map(({ name = '' }) => name);
  mustBeDistinct(at, names, 'name');
}

function validateRequest(at: FieldPath, request: DeviceRequest): void {
  const { name = '', deviceClassName = '', selectors = [] } = request;
  mustBeName(at.field('name'), name, 'dns-label');
  mustBeNamed(at.field('deviceClassName'), deviceClassName, 'dns-subdomain');
  validateDeviceSelectors(at.field('selectors'), selectors);
  validateCount(at, request);
}

/** Whether an expression compiles is not checked here. */
export function validateDeviceSelectors(at: FieldPath, selectors: readonly DeviceSelector[]): void {
  for (const [path, { cel }] of at.each(selectors)) {
    if (cel === undefined) path.field('cel').required();
    else if ((cel.expression ?? '').trim() === '') path.field('cel').field('expression').required();
  }
  mustHaveAtMost(at, MAX_SELECTORS, selectors);
}

/** Settings for drivers, in classes, claims and allocations. */

export const MAX_CONFIGURATIONS = 32;
const MAX_REQUESTS = 32;

/** Parameters that only their driver understands. */
export function validateConfiguration(at: FieldPath, { opaque }: DeviceConfiguration): void {
  const path = at.field('opaque');
  if (opaque === undefined) {
    path.required();
    return;
  }
  mustBeDriverName(path.field('driver'), opaque.driver ?? '');
  validateParameters(path.field('parameters'), opaque.parameters);
}

function validateParameters(at: FieldPath, parameters: JsonValue | undefined): void {
  if (parameters === undefined || parameters === null) at.required();
  else if (typeof parameters !== 'object' || Array.isArray(parameters))
    at.invalid('<value omitted>', 'parameters must be a valid JSON object');
}

/** Names of requests in the same claim, all of which are `known`. */
export function mustBeRequestNames(
  at: FieldPath,
  names: readonly string[],
  known: ReadonlySet<string>,
): void {
  for (const [path, name] of at.each(names)) mustBeRequestName(path, name, known);
  mustHaveAtMost(at, MAX_REQUESTS, names);
  mustBeDistinct(at, names);
}

export function mustBeRequestName(at: FieldPath, name: string, known: ReadonlySet<string>): void {
  mustBeName(at, name, 'dns-label');
  if (!known.has(name)) at.invalid(name, 'must be the name of a request in the claim');
}
