import type { NodeSelector } from '../../../api/types/core/v1.ts';
import type {
  BasicDevice,
  Device,
  DeviceAttribute,
  ResourceSlice,
  ResourceSliceSpec,
} from '../../../api/types/resource/v1alpha3.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { parseSemanticVersion } from '../../../object/semantic-version.ts';
import { define } from '../../define.ts';
import { validateNodeSelector } from '../../pod/validation/placement.ts';
import { checked, checkedUpdate } from '../../rules/checked.ts';
import { goNodeSelectorTerms } from '../../rules/go-structs.ts';
import { mustNotChange } from '../../rules/immutable.ts';
import { mustBeName } from '../../rules/name-rules.ts';
import {
  mustBeDistinct,
  mustBeDriverName,
  mustBeQualifiedName,
  mustHaveAtMost,
  reportLength,
} from '../device-names.ts';
import { SLICE_FORM, validatePool } from '../slice-form.ts';

/** The devices of one driver that one node, some nodes, or all nodes reach. */
export const resourceslices = define<ResourceSlice>({
  group: 'resource.k8s.io',
  resource: 'resourceslices',
  kind: 'ResourceSlice',
  namespaced: false,
  versions: [
    { version: 'v1alpha3', type: 'resource/v1alpha3.ResourceSlice', enabledByDefault: false, until: 32 },
  ],
  ...SLICE_FORM,
  strategy: {
    tracksGeneration: true,
    returnsDeletedObject: true,
    validate: checked(validate),
    validateUpdate: checkedUpdate(validateUpdate),
  },
});

const MAX_DEVICES = 128;

function validate(root: FieldPath, { spec = {} }: ResourceSlice): void {
  const at = root.field('spec');
  const devices = spec.devices ?? [];
  const path = at.field('devices');
  mustBeDriverName(at.field('driver'), spec.driver ?? '');
  validatePool(at.field('pool'), spec.pool ?? {});
  validateNodes(at, spec);
  for (const [item, device] of path.each(devices)) validateDevice(item, device);
  mustHaveAtMost(path, MAX_DEVICES, devices);
  const names = devices.map(({ name = '' }) => name);
  mustBeDistinct(path, names, 'name');
}

function validateUpdate(
  root: FieldPath,
  { spec = {} }: ResourceSlice,
  { spec: old = {} }: ResourceSlice,
): void {
  const at = root.field('spec');
  mustNotChange(at.field('pool').field('name'), spec.pool?.name, old.pool?.name);
  mustNotChange(at.field('driver'), spec.driver, old.driver);
  mustNotChange(at.field('nodeName'), spec.nodeName ?? '', old.nodeName ?? '');
}

function validateNodes(at: FieldPath, spec: ResourceSliceSpec): void {
  const { nodeName = '', nodeSelector, allNodes = false } = spec;
  const ways = [nodeName !== '', nodeSelector !== undefined, allNodes].filter(Boolean).length;
  const why = 'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required';
  if (nodeName !== '') mustBeName(at.field('nodeName'), nodeName, 'dns-subdomain');
  if (nodeSelector !== undefined) validateSelector(at.field('nodeSelector'), nodeSelector);
  if (ways === 0) at.required(why);
  if (ways > 1) at.invalid(spec, why);
}

/** One term only: selectors of slices are merged when a claim gets devices of several. */
function validateSelector(at: FieldPath, selector: NodeSelector): void {
  const terms = selector.nodeSelectorTerms ?? [];
  validateNodeSelector(at, selector);
  if (terms.length === 1) return;
  const value = goNodeSelectorTerms(terms);
  at.field('nodeSelectorTerms').invalid(value, 'must have exactly one selector term');
}

/** Validates a device with its attributes and capacities. */
function validateDevice(at: FieldPath, { name = '', basic }: Device): void {
  mustBeName(at.field('name'), name, 'dns-label');
  if (basic === undefined) at.field('basic').required();
  else validateFacts(at.field('basic'), basic);
}

const MAX_FACTS = 32;

function validateFacts(at: FieldPath, { attributes = {}, capacity = {} }: BasicDevice): void {
  const ofAttributes = at.field('attributes');
  for (const [path, name, attribute] of ofAttributes.entries(attributes)) {
    mustBeQualifiedName(ofAttributes, name);
    validateAttribute(path, attribute);
  }
  for (const name of Object.keys(capacity)) mustBeQualifiedName(at.field('capacity'), name);
  const amount = Object.keys(attributes).length + Object.keys(capacity).length;
  if (amount > MAX_FACTS)
    at.invalid(amount, `the total number of attributes and capacities must not exceed ${MAX_FACTS}`);
}

const MAX_VALUE_BYTES = 64;

function validateAttribute(at: FieldPath, attribute: DeviceAttribute): void {
  const { bool, int, string, version } = attribute;
  if (version !== undefined && parseSemanticVersion(version) === undefined)
    at.field('version').invalid(version, 'must be a string compatible with semver.org spec 2.0.0');
  if (Buffer.byteLength(string ?? '') > MAX_VALUE_BYTES) reportLength(at.field('string'), MAX_VALUE_BYTES);
  if (Buffer.byteLength(version ?? '') > MAX_VALUE_BYTES) reportLength(at.field('version'), MAX_VALUE_BYTES);
  const values = [bool, int, string, version].filter((value) => value !== undefined);
  if (values.length === 0) at.required('exactly one value must be specified');
  if (values.length > 1) at.invalid(attribute, 'exactly one field must be specified');
}
