import type {
  DeviceClaim,
  DeviceConstraint,
  DeviceRequest,
  DeviceSubRequest,
  ExactDeviceRequest,
  ResourceClaimSpec,
} from '../../api/types/resource/stored.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { mustBeName, mustBeNamed } from '../rules/name-rules.ts';
import { validateCount } from './claim-rules.ts';
import {
  MAX_CONFIGURATIONS,
  validateConfiguration,
  validateDeviceSelectors,
} from './device-configuration.ts';
import { mustBeDistinct, mustBeFullyQualifiedName } from './device-names.ts';
import type { SelectorList } from './device-selectors.ts';
import { hasAtMost } from './list-limits.ts';
import { validateTolerations } from './taints.ts';

/** The spec of a claim, in a claim or in a template of claims. */

const MAX_REQUESTS = 32;
const MAX_ALTERNATIVES = 8;
const MAX_CONSTRAINTS = 32;

type Ask = ExactDeviceRequest | DeviceSubRequest;

/** One device by default. */
export function setClaimDefaults({ devices = {} }: ResourceClaimSpec): void {
  for (const { exactly, firstAvailable = [] } of devices.requests ?? [])
    for (const ask of exactly === undefined ? firstAvailable : [exactly, ...firstAvailable])
      setAskDefaults(ask);
}

function setAskDefaults(ask: Ask): void {
  ask.allocationMode ||= 'ExactCount';
  if (ask.allocationMode === 'ExactCount') ask.count ||= 1;
}

/** What requests are called where others refer to them: `gpu`, and for its alternatives `gpu/large` too. */
export function requestNamesOf({ devices = {} }: ResourceClaimSpec): ReadonlySet<string> {
  return new Set(
    (devices.requests ?? []).flatMap(({ name = '', firstAvailable = [] }) => [
      name,
      ...firstAvailable.map((alternative) => `${name}/${alternative.name ?? ''}`),
    ]),
  );
}

export function validateClaimSpec(at: FieldPath, spec: ResourceClaimSpec): void {
  validateDevices(at.field('devices'), spec.devices ?? {}, requestNamesOf(spec));
}

/** All selectors of a spec. */
export const selectorsOf = (at: FieldPath, { devices = {} }: ResourceClaimSpec): readonly SelectorList[] =>
  [
    ...at
      .field('devices')
      .field('requests')
      .each(devices.requests ?? []),
  ].flatMap(([path, { exactly, firstAvailable }]): SelectorList[] => [
    [path.field('exactly').field('selectors'), exactly?.selectors],
    ...[...path.field('firstAvailable').each(firstAvailable)].map(
      ([item, { selectors }]): SelectorList => [item.field('selectors'), selectors],
    ),
  ]);

function validateDevices(at: FieldPath, devices: DeviceClaim, known: ReadonlySet<string>): void {
  const { requests = [], constraints = [], config = [] } = devices;
  validateRequests(at.field('requests'), requests ?? []);
  if (hasAtMost(at.field('constraints'), MAX_CONSTRAINTS, constraints))
    for (const [path, constraint] of at.field('constraints').each(constraints))
      validateConstraint(path, constraint, known);
  if (hasAtMost(at.field('config'), MAX_CONFIGURATIONS, config))
    for (const [path, configuration] of at.field('config').each(config)) {
      mustBeRequestNames(path.field('requests'), configuration.requests ?? [], known);
      validateConfiguration(path, configuration);
    }
}

function validateRequests(at: FieldPath, requests: readonly DeviceRequest[]): void {
  if (!hasAtMost(at, MAX_REQUESTS, requests)) return;
  for (const [path, request] of at.each(requests)) validateRequest(path, request);
  mustBeDistinct(
    at,
    requests.map(({ name = '' }) => name),
    'name',
  );
}

const ONE_OF = 'exactly one of `exactly` or `firstAvailable` is required';

function validateRequest(at: FieldPath, { name = '', exactly, firstAvailable = [] }: DeviceRequest): void {
  mustBeName(at.field('name'), name, 'dns-label');
  const hasBoth = exactly !== undefined && firstAvailable.length > 0;
  if (hasBoth) at.invalid(null, `${ONE_OF}, but multiple fields are set`);
  // Since 1.35, two ways at once hide what else is wrong with them.
  if (hasBoth && at.minor >= 35) return;
  if (firstAvailable.length > 0) validateAlternatives(at.field('firstAvailable'), firstAvailable);
  if (exactly !== undefined) validateAsk(at.field('exactly'), exactly);
  else if (firstAvailable.length === 0) at.required(ONE_OF);
}

function validateAlternatives(at: FieldPath, alternatives: readonly DeviceSubRequest[]): void {
  if (!hasAtMost(at, MAX_ALTERNATIVES, alternatives)) return;
  for (const [path, alternative] of at.each(alternatives)) {
    mustBeName(path.field('name'), alternative.name ?? '', 'dns-label');
    validateAsk(path, alternative);
  }
  mustBeDistinct(
    at,
    alternatives.map(({ name = '' }) => name),
    'name',
  );
}

function validateAsk(at: FieldPath, ask: Ask): void {
  mustBeNamed(at.field('deviceClassName'), ask.deviceClassName ?? '', 'dns-subdomain');
  validateDeviceSelectors(at.field('selectors'), ask.selectors);
  validateCount(at, ask);
  validateTolerations(at.field('tolerations'), ask.tolerations);
}

function validateConstraint(at: FieldPath, constraint: DeviceConstraint, known: ReadonlySet<string>): void {
  const { requests = [], matchAttribute, distinctAttribute } = constraint;
  mustBeRequestNames(at.field('requests'), requests, known);
  if (matchAttribute !== undefined) mustBeFullyQualifiedName(at.field('matchAttribute'), matchAttribute);
  else if (distinctAttribute !== undefined)
    mustBeFullyQualifiedName(at.field('distinctAttribute'), distinctAttribute);
  else if (at.isOn('DRAConsumableCapacity'))
    at.required(
      'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
    );
  else at.field('matchAttribute').required();
}

/** Names of requests in the same claim, all of which are `known`. */
export function mustBeRequestNames(
  at: FieldPath,
  names: readonly string[],
  known: ReadonlySet<string>,
): void {
  if (!hasAtMost(at, MAX_REQUESTS, names)) return;
  for (const [path, name] of at.each(names)) mustBeRequestName(path, name, known);
  mustBeDistinct(at, names);
}

const NO_REQUEST =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

export function mustBeRequestName(at: FieldPath, name: string, known: ReadonlySet<string>): void {
  const pieces = name.split('/');
  if (pieces.length <= 2) for (const piece of pieces) mustBeName(at, piece, 'dns-label');
  if (!known.has(name)) at.invalid(name, NO_REQUEST);
}
