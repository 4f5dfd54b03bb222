import type { Device, DeviceAttribute } from '../../api/types/resource/stored.ts';
import { equal } from '../../object/equality.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { isNativeResource } from '../../object/resource-list.ts';
import { parseSemanticVersion } from '../../object/semantic-version.ts';
import { validateNodeSelector } from '../pod/validation/placement.ts';
import { mustBeName } from '../rules/name-rules.ts';
import { nanosOf } from '../rules/numbers.ts';
import { validateCapacity } from './capacity.ts';
import { validateBinding } from './conditions-to-bind.ts';
import { keyPath, validateConsumptions } from './counters.ts';
import { mustBeQualifiedName } from './device-names.ts';
import { validateTaints } from './taints.ts';

/** One device of a slice. */

const MAX_FACTS = 32;
const MAX_VALUES = 48;

/** `ownNodes`: devices of the slice name their nodes themselves. Stored taints that are as before are not judged again. */
export function validateDevice(
  at: FieldPath,
  device: Device,
  { old, ownNodes }: { readonly old: Device | undefined; readonly ownNodes: boolean },
): void {
  const { attributes = {}, capacity = {}, taints, consumesCounters = [] } = device;
  mustBeName(at.field('name'), device.name ?? '', 'dns-label');
  validateAmounts(at, device);
  for (const [path, name, attribute] of at.field('attributes').entries(attributes)) {
    mustBeQualifiedName(keyPath(at.field('attributes'), name), name);
    validateAttribute(path, attribute);
  }
  for (const [path, name, amount] of at.field('capacity').entries(capacity)) {
    mustBeQualifiedName(keyPath(at.field('capacity'), name), name);
    validateCapacity(path, amount, device.allowMultipleAllocations === true);
  }
  if (!equal(taints, old?.taints)) validateTaints(at.field('taints'), taints);
  validateConsumptions(at.field('consumesCounters'), consumesCounters);
  validateNodes(at, device, ownNodes);
  validateBinding(at, device);
  validateMappings(at, device);
}

/** Values of an attribute that is a list count each. */
function validateAmounts(at: FieldPath, { attributes = {}, capacity = {} }: Device): void {
  const facts = Object.keys(attributes).length + Object.keys(capacity).length;
  if (facts > MAX_FACTS)
    at.invalid(facts, `the total number of attributes and capacities must not exceed ${MAX_FACTS}`);
  const values = Object.values(attributes).reduce(
    (sum, one) => sum + Math.max(1, listsOf(one).flat().length),
    0,
  );
  if (values > MAX_VALUES)
    at.invalid(values, `the total number of attribute values must not exceed ${MAX_VALUES}`);
}

const LISTS = ['bools', 'ints', 'strings', 'versions'] as const;

const listsOf = (attribute: DeviceAttribute): readonly unknown[][] =>
  LISTS.flatMap((name) => (attribute[name] === undefined ? [] : [[...attribute[name]]]));

export const hasLists = ({ attributes = {} }: Device): boolean =>
  Object.values(attributes).some((attribute) => listsOf(attribute).length > 0);

const MAX_VALUE_BYTES = 64;

function validateAttribute(at: FieldPath, attribute: DeviceAttribute): void {
  const { bool, int, string, version, strings, versions } = attribute;
  mustBeShort(at.field('string'), string);
  for (const [path, text] of at.field('strings').each(strings)) mustBeShort(path, text);
  mustBeVersion(at.field('version'), version);
  for (const [path, text] of at.field('versions').each(versions)) mustBeVersion(path, text);
  for (const name of LISTS)
    if (attribute[name]?.length === 0) at.field(name).invalid([], 'must not be empty if specified');
  const values = [bool, int, string, version].filter((value) => value !== undefined);
  const given = values.length + listsOf(attribute).length;
  if (given === 0 && at.minor < 35) at.required('exactly one value must be specified');
  else if (given !== 1) at.invalid(given === 0 ? '' : attribute, 'exactly one value must be specified');
}

function mustBeShort(at: FieldPath, text = ''): void {
  if (Buffer.byteLength(text) > MAX_VALUE_BYTES) at.tooLong(MAX_VALUE_BYTES);
}

function mustBeVersion(at: FieldPath, text: string | undefined): void {
  if (text === undefined) return;
  if (parseSemanticVersion(text) === undefined)
    at.invalid(text, 'must be a string compatible with semver.org spec 2.0.0');
  mustBeShort(at, text);
}

const NODES =
  'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
const NO_NODES =
  '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec';

function validateNodes(at: FieldPath, { nodeName, nodeSelector, allNodes }: Device, ownNodes: boolean): void {
  if (!ownNodes) {
    if (nodeName !== undefined || nodeSelector !== undefined || allNodes !== undefined)
      at.invalid(null, NO_NODES);
    return;
  }
  if (nodeName === '') at.field('nodeName').invalid(nodeName, 'must not be empty');
  else if (nodeName !== undefined) mustBeName(at.field('nodeName'), nodeName, 'dns-subdomain');
  if (nodeSelector !== undefined) validateNodeSelector(at.field('nodeSelector'), nodeSelector, 32);
  if (allNodes === false) at.field('allNodes').invalid(allNodes, 'must be either unset or set to true');
  const ways = waysOf({
    nodeName: nodeName !== undefined && nodeName !== '',
    nodeSelector: nodeSelector !== undefined,
    allNodes: allNodes === true,
  });
  if (ways.length === 0) at.required(NODES);
  if (ways.length > 1) at.invalid(`{${ways.join(', ')}}`, NODES);
}

/** Names of the fields that are given, in backquotes. */
export const waysOf = (given: Readonly<Record<string, boolean>>): readonly string[] =>
  Object.keys(given)
    .filter((name) => given[name])
    .map((name) => `\`${name}\``);

function validateMappings(at: FieldPath, { nodeAllocatableResourceMappings, capacity = {} }: Device): void {
  const path = at.field('nodeAllocatableResourceMappings');
  for (const [item, name, { allocationMultiplier: multiplier, capacityKey: key }] of path.entries(
    nodeAllocatableResourceMappings,
  )) {
    if (!isNativeResource(name)) item.invalid(name, 'must be a node allocatable resource name');
    if (multiplier !== undefined && nanosOf(multiplier) <= 0n)
      item.field('allocationMultiplier').invalid(multiplier, 'must be positive');
    if (key === '') item.field('capacityKey').invalid(key, 'capacityKey must not be an empty string');
    else if (key !== undefined && capacity[key] === undefined) item.field('capacityKey').notFound(key);
  }
}
