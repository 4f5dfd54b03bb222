import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, invalidValue, notSupported, required } from '../../object/field-errors.ts';
import { checkName } from '../../object/formats.ts';
import { count, part, parts, text } from '../../object/parts.ts';
import { has } from '../validation/fields.ts';
import { validateSize } from './validate-names.ts';

/** Requests for devices, and the selectors that narrow them down. */

export const MAX_REQUESTS = 32;
const MAX_SELECTORS = 32;
const MODES = ['All', 'ExactCount'] as const;

/** One device, unless more are asked for. */
export function defaultRequests(devices: JsonObject): void {
  for (const request of parts(devices, 'requests')) {
    if (text(request.allocationMode) === '') request.allocationMode = 'ExactCount';
    if (request.allocationMode === 'ExactCount' && count(request.count) === 0) request.count = 1;
  }
}

export function validateRequest(request: JsonObject, path: string): FieldError[] {
  const name = text(request.name);
  const deviceClass = text(request.deviceClassName);
  return [
    ...eachInvalid(`${path}.name`, name, checkName(name, 'dns-label')),
    ...(deviceClass === ''
      ? [required(`${path}.deviceClassName`)]
      : eachInvalid(`${path}.deviceClassName`, deviceClass, checkName(deviceClass, 'dns-subdomain'))),
    ...validateSelectors(parts(request, 'selectors'), `${path}.selectors`),
    ...validateCount(text(request.allocationMode), count(request.count), path),
  ];
}

function validateCount(mode: string, amount: number, path: string): FieldError[] {
  switch (mode) {
    case 'All':
      return amount === 0
        ? []
        : [invalidValue(`${path}.count`, amount, "must not be specified when allocationMode is 'All'")];
    case 'ExactCount':
      return amount > 0 ? [] : [invalidValue(`${path}.count`, amount, 'must be greater than zero')];
    default:
      return [notSupported(`${path}.allocationMode`, mode, MODES)];
  }
}

/** Whether an expression compiles is not checked here. */
export function validateSelectors(selectors: readonly JsonObject[], path: string): FieldError[] {
  return [
    ...selectors.flatMap((selector, at) => {
      if (!has(selector, 'cel')) return [required(`${path}[${at}].cel`)];
      const { expression } = part(selector, 'cel');
      return text(expression).trim() === '' ? [required(`${path}[${at}].cel.expression`)] : [];
    }),
    ...validateSize(selectors, MAX_SELECTORS, path),
  ];
}
