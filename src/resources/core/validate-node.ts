import { isIPv6 } from 'node:net';
import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { duplicate, eachInvalid, forbiddenField, invalidValue } from '../../object/field-errors.ts';
import { checkCidr } from '../../object/formats.ts';
import { part, parts, text } from '../../object/parts.ts';
import { goNodeAddress } from '../validation/go-structs.ts';
import { quantitiesOf } from '../validation/quantity-values.ts';
import { each, strings } from '../validation/values.ts';
import { validateNodeAnnotations } from './validate-node-annotations.ts';
import { validateResourceQuantity } from './validate-resource-name.ts';
import { validateTaints } from './validate-taints.ts';

/** One an address family. */
const MAX_POD_RANGES = 2;

export function validateNode(node: ApiObject): FieldError[] {
  const spec = part(node, 'spec');
  return [
    ...validateNodeAnnotations(node.metadata.annotations ?? {}, 'metadata.annotations'),
    // Kubernetes looks for taints in metadata, if one believes its errors.
    ...validateTaints(parts(spec, 'taints'), 'metadata.taints'),
    ...validatePodRanges(strings(spec, 'podCIDRs'), 'spec.podCIDRs'),
    ...validateResources(part(node, 'status')),
  ];
}

/** A node has what it had when it was given: its ranges of pod addresses and its identity at the provider. */
export function validateNodeUpdate(node: ApiObject, old: ApiObject): FieldError[] {
  const spec = part(node, 'spec');
  const before = part(old, 'spec');
  const errors: FieldError[] = [];
  if (strings(before, 'podCIDRs').length > 0 && !equal(spec.podCIDRs, before.podCIDRs)) {
    const why = 'node updates may not change podCIDR except from "" to valid';
    errors.push(forbiddenField('spec.podCIDRs', why));
  }
  if (text(before.providerID) !== '' && spec.providerID !== before.providerID) {
    const why = 'node updates may not change providerID except from "" to valid';
    errors.push(forbiddenField('spec.providerID', why));
  }
  if (text(spec.externalID) !== text(before.externalID)) {
    errors.push(forbiddenField('spec.externalID', 'may not be updated'));
  }
  return errors;
}

export function validateNodeStatus(node: ApiObject): FieldError[] {
  const addresses = parts(part(node, 'status'), 'addresses');
  return each(addresses, 'status.addresses', (address, at, index) =>
    addresses.slice(0, index).some((earlier) => equal(earlier, address))
      ? [duplicate(at, goNodeAddress(address))]
      : [],
  );
}

function validatePodRanges(ranges: readonly string[], path: string): FieldError[] {
  const errors = each(ranges, path, (range, at) => eachInvalid(at, range, checkCidr(range)));
  if (ranges.length < MAX_POD_RANGES) return errors;
  const families = new Set(ranges.map((range) => isIPv6(range.split('/')[0] ?? '')));
  if (families.size < MAX_POD_RANGES || ranges.length > MAX_POD_RANGES) {
    errors.push(invalidValue(path, ranges, 'may specify no more than one CIDR for each IP family'));
  }
  const repeated = each(ranges, path, (range, at, index) =>
    ranges.indexOf(range) < index ? [duplicate(at, range)] : [],
  );
  return [...errors, ...repeated];
}

function validateResources(status: JsonObject): FieldError[] {
  return ['capacity', 'allocatable'].flatMap((list) =>
    quantitiesOf(part(status, list)).flatMap(([name, value]) =>
      validateResourceQuantity(name, value, `status.${list}.${name}`),
    ),
  );
}
