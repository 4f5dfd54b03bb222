import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { eachInvalid, forbiddenField, notSupported, required } from '../../object/field-errors.ts';
import { problemsOf } from '../../object/field-path.ts';
import { checkName } from '../../object/formats.ts';
import { part, parts, text } from '../../object/parts.ts';
import { validateNodeSelector } from '../pod/validation/node-selector.ts';
import { has } from '../validation/fields.ts';
import { validateImmutableField } from '../validation/immutable.ts';
import { requestNames } from './validate-claim.ts';
import {
  MAX_CONFIGURATIONS,
  validateConfiguration,
  validateRequestName,
  validateRequestNames,
} from './validate-configuration.ts';
import { validateDistinct, validateDriverName, validatePoolName, validateSize } from './validate-names.ts';

const MAX_CONSUMERS = 32;
const MAX_RESULTS = 32;
const SOURCES = ['FromClaim', 'FromClass'] as const;

/** What a claim got, and who may use it. */
export function validateClaimStatus(claim: ApiObject, old: ApiObject): FieldError[] {
  const status = part(claim, 'status');
  const consumers = parts(status, 'reservedFor');
  const path = 'status.reservedFor';
  return [
    ...(has(status, 'allocation')
      ? validateAllocation(part(status, 'allocation'), requestNames(part(claim, 'spec')))
      : []),
    ...consumers.flatMap((consumer, at) => validateConsumer(consumer, `${path}[${at}]`)),
    ...validateSize(consumers, MAX_CONSUMERS, path),
    ...validateDistinct(
      consumers.map(({ uid }) => text(uid)),
      (at) => `${path}[${at}].uid`,
    ),
    ...validateReservation(claim, old),
    ...validateDeallocation(status, part(old, 'status')),
  ];
}

const validateConsumer = (consumer: JsonObject, path: string): FieldError[] =>
  ['resource', 'name', 'uid'].flatMap((name) =>
    text(consumer[name]) === '' ? [required(`${path}.${name}`)] : [],
  );

function validateReservation(claim: ApiObject, old: ApiObject): FieldError[] {
  const status = part(claim, 'status');
  const consumers = parts(status, 'reservedFor');
  if (consumers.length === 0) return [];
  if (!has(status, 'allocation'))
    return [forbiddenField('status.reservedFor', 'may not be specified when `allocated` is not set')];
  const ending = has(claim.metadata, 'deletionTimestamp') || status.deallocationRequested === true;
  const before = parts(part(old, 'status'), 'reservedFor');
  const added = consumers.some((consumer) => !before.some((known) => equal(known, consumer)));
  const why = 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set';
  return ending && added ? [forbiddenField('status.reservedFor', why)] : [];
}

/** An allocation does not change; it is given back, and once that has been asked for it cannot be called off. */
function validateDeallocation(status: JsonObject, old: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const path = 'status.deallocationRequested';
  const [asked, askedBefore] = [status.deallocationRequested === true, old.deallocationRequested === true];
  const allocated = has(status, 'allocation');
  if (allocated && has(old, 'allocation'))
    errors.push(...validateImmutableField('status.allocation', status.allocation, old.allocation));
  if (!askedBefore && asked && parts(status, 'reservedFor').length > 0)
    errors.push(forbiddenField(path, 'deallocation cannot be requested while `reservedFor` is set'));
  if (!allocated && asked)
    errors.push(forbiddenField('status', '`allocation` must be set when `deallocationRequested` is set'));
  if (askedBefore && !asked && allocated)
    errors.push(forbiddenField(path, 'may not be cleared when `allocation` is set'));
  return errors;
}

function validateAllocation(allocation: JsonObject, known: ReadonlySet<string>): FieldError[] {
  const devices = part(allocation, 'devices');
  const path = 'status.allocation';
  const controller = text(allocation.controller);
  return [
    ...validateResults(parts(devices, 'results'), `${path}.devices.results`, known),
    ...validateConfigurations(parts(devices, 'config'), `${path}.devices.config`, known),
    ...(has(allocation, 'nodeSelector')
      ? problemsOf((at) => validateNodeSelector(at, part(allocation, 'nodeSelector')), `${path}.nodeSelector`)
      : []),
    ...(controller === '' ? [] : validateDriverName(controller, `${path}.controller`)),
  ];
}

function validateResults(
  results: readonly JsonObject[],
  path: string,
  known: ReadonlySet<string>,
): FieldError[] {
  const errors = results.flatMap((result, at) => {
    const device = text(result.device);
    return [
      ...validateRequestName(text(result.request), `${path}[${at}].request`, known),
      ...validateDriverName(text(result.driver), `${path}[${at}].driver`),
      ...validatePoolName(text(result.pool), `${path}[${at}].pool`),
      ...eachInvalid(`${path}[${at}].device`, device, checkName(device, 'dns-label')),
    ];
  });
  return [...errors, ...validateSize(results, MAX_RESULTS, path)];
}

/** Those of the class and those of the claim, hence twice as many as either may have. */
function validateConfigurations(
  configurations: readonly JsonObject[],
  path: string,
  known: ReadonlySet<string>,
): FieldError[] {
  const errors = configurations.flatMap((configuration, at) => [
    ...validateSource(text(configuration.source), `${path}[${at}].source`),
    ...validateRequestNames(configuration, `${path}[${at}]`, known),
    ...validateConfiguration(configuration, `${path}[${at}]`),
  ]);
  return [...errors, ...validateSize(configurations, 2 * MAX_CONFIGURATIONS, path)];
}

function validateSource(source: string, path: string): FieldError[] {
  if (source === '') return [required(path)];
  return SOURCES.some((known) => known === source) ? [] : [notSupported(path, source, SOURCES)];
}
