import { minorOf } from '../../api/feature-gates.ts';
import type { NodeSelector } from '../../api/types/core/v1.ts';
import type { Device, ResourceSlice, ResourceSliceSpec } from '../../api/types/resource/stored.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { define } from '../define.ts';
import { validateNodeSelector } from '../pod/validation/placement.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { goNodeSelectorTerms } from '../rules/go-structs.ts';
import { mustNotChange } from '../rules/immutable.ts';
import { mustBeName } from '../rules/name-rules.ts';
import { validateCounterSets, validateSharing } from './counters.ts';
import { hasLists, validateDevice, waysOf } from './device.ts';
import { mustBeDistinct, mustBeDriverName } from './device-names.ts';
import { hasAtMost } from './list-limits.ts';
import { SLICE_FORM, validatePool } from './slice-form.ts';
import { setTaintDefaults } from './taints.ts';
import { sliceV1alpha3, sliceV1beta1 } from './v1beta1.ts';

/** The devices of one driver that one node, some nodes, or all nodes reach. */
export const resourceslices = define<ResourceSlice>({
  group: 'resource.k8s.io',
  resource: 'resourceslices',
  kind: 'ResourceSlice',
  namespaced: false,
  versions: [
    { version: 'v1', type: 'resource/v1.ResourceSlice', since: 34 },
    { version: 'v1beta2', type: 'resource/v1beta2.ResourceSlice', enabledByDefault: false, since: 33 },
    {
      version: 'v1beta1',
      type: 'resource/v1beta1.ResourceSlice',
      enabledByDefault: false,
      conversion: sliceV1beta1,
      since: 32,
    },
    {
      version: 'v1alpha3',
      type: 'resource/v1alpha3.ResourceSlice',
      enabledByDefault: false,
      conversion: sliceV1alpha3,
      since: 32,
      until: 34,
    },
  ],
  storage: {
    group: 'resource.k8s.io',
    resource: 'resourceslices',
    version: 'v1',
    type: 'resource/stored.ResourceSlice',
  },
  ...SLICE_FORM,
  strategy: {
    tracksGeneration: true,
    returnsDeletedObject: true,
    defaults: ({ spec = {} }) => {
      for (const { taints, nodeAllocatableResourceMappings } of spec.devices ?? []) {
        setTaintDefaults(taints);
        for (const mapping of Object.values(nodeAllocatableResourceMappings ?? {}))
          mapping.allocationMultiplier ??= '1';
      }
    },
    validate: checked(validate),
    validateUpdate: checkedUpdate(validateUpdate),
    warnings: ({ spec: { driver = '' } = {} }, _, isOn) =>
      minorOf(isOn) >= 35 && driver !== driver.toLowerCase()
        ? [
            `spec.driver: driver names should be lowercase; ${JSON.stringify(driver)} contains uppercase characters`,
          ]
        : [],
  },
});

const MAX_DEVICES = 128;
/** Where taints, counters or lists make devices larger, since 1.35. */
const MAX_LARGE_DEVICES = 64;

const isLarge = (device: Device): boolean =>
  (device.taints ?? []).length > 0 || (device.consumesCounters ?? []).length > 0 || hasLists(device);

function validate(root: FieldPath, { spec = {} }: ResourceSlice, old?: ResourceSlice): void {
  const at = root.field('spec');
  const { devices = [], sharedCounters = [] } = spec;
  mustBeDriverName(at.field('driver'), spec.driver ?? '');
  validatePool(at.field('pool'), spec.pool ?? {});
  validateNodes(at, spec);
  validateSharing(at, spec);
  validateDevices(at.field('devices'), devices, { spec, old: old?.spec?.devices ?? [] });
  validateCounterSets(at.field('sharedCounters'), sharedCounters);
}

function validateDevices(
  at: FieldPath,
  devices: readonly Device[],
  { spec, old }: { readonly spec: ResourceSliceSpec; readonly old: readonly Device[] },
): void {
  const most = at.minor >= 35 && devices.some(isLarge) ? MAX_LARGE_DEVICES : MAX_DEVICES;
  if (!hasAtMost(at, most, devices)) return;
  const ownNodes = spec.perDeviceNodeSelection === true;
  const before = new Map(old.map((device) => [device.name, device]));
  for (const [path, device] of at.each(devices))
    validateDevice(path, device, { old: before.get(device.name), ownNodes });
  mustBeDistinct(
    at,
    devices.map(({ name = '' }) => name),
    'name',
  );
}

function validateUpdate(
  root: FieldPath,
  { spec = {} }: ResourceSlice,
  { spec: old = {} }: ResourceSlice,
): void {
  const at = root.field('spec');
  mustNotChange(at.field('pool').field('name'), spec.pool?.name, old.pool?.name);
  mustNotChange(at.field('driver'), spec.driver, old.driver);
  mustNotChange(at.field('nodeName'), spec.nodeName, old.nodeName);
}

const ONE_OF = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';

function validateNodes(at: FieldPath, spec: ResourceSliceSpec): void {
  const { nodeName, nodeSelector, allNodes, perDeviceNodeSelection } = spec;
  if (nodeName === '')
    at.field('nodeName').invalid(nodeName, 'must be either unset or set to a non-empty string');
  else if (nodeName !== undefined) mustBeName(at.field('nodeName'), nodeName, 'dns-subdomain');
  if (nodeSelector !== undefined) validateSelector(at.field('nodeSelector'), nodeSelector);
  for (const [name, flag] of Object.entries({ allNodes, perDeviceNodeSelection }))
    if (flag === false) at.field(name).invalid(flag, 'must be either unset or set to true');
  const ways = waysOf({
    nodeName: nodeName !== undefined && nodeName !== '',
    nodeSelector: nodeSelector !== undefined,
    allNodes: allNodes === true,
    perDeviceNodeSelection: perDeviceNodeSelection === true,
  });
  if (ways.length === 0) at.required(ONE_OF);
  if (ways.length > 1) at.invalid(`{${ways.join(', ')}}`, `${ONE_OF}, but multiple fields are set`);
}

/** One term only: selectors of slices are merged when a claim gets devices of several. */
function validateSelector(at: FieldPath, selector: NodeSelector): void {
  const terms = selector.nodeSelectorTerms ?? [];
  validateNodeSelector(at, selector, 32);
  if (terms.length === 1) return;
  const value = goNodeSelectorTerms(terms);
  at.field('nodeSelectorTerms').invalid(value, 'must have exactly one node selector term');
}
