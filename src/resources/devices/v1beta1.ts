import type { JsonObject } from '../../api/object-meta.ts';
import type {
  Device,
  DeviceRequest,
  ResourceClaim,
  ResourceClaimTemplate,
  ResourceSlice,
  ResourceSliceSpec,
} from '../../api/types/resource/stored.ts';
import type * as v1alpha3 from '../../api/types/resource/v1alpha3.ts';
import type * as v1beta1 from '../../api/types/resource/v1beta1.ts';
import type { Conversion } from '../../registry/resource-definition.ts';

/**
 * v1beta1 has the fields of a request with one way to meet it in the request itself, and what a device is like in `basic`. Later
 * versions have `exactly`, and no `basic`.
 */
export const claimV1beta1: Conversion = {
  toStorage: ({ spec, ...claim }: v1beta1.ResourceClaim) => ({
    ...claim,
    ...(spec === undefined ? {} : { spec: withRequests(spec, toRequest) }),
  }),
  fromStorage: ({ spec, ...claim }: ResourceClaim) => ({
    ...claim,
    ...(spec === undefined ? {} : { spec: withRequests(spec, fromRequest) }),
  }),
};

export const templateV1beta1: Conversion = {
  toStorage: ({ spec, ...template }: v1beta1.ResourceClaimTemplate) => ({
    ...template,
    ...(spec?.spec === undefined
      ? { spec }
      : { spec: { ...spec, spec: withRequests(spec.spec, toRequest) } }),
  }),
  fromStorage: ({ spec, ...template }: ResourceClaimTemplate) => ({
    ...template,
    ...(spec?.spec === undefined
      ? { spec }
      : { spec: { ...spec, spec: withRequests(spec.spec, fromRequest) } }),
  }),
};

export const sliceV1beta1: Conversion = {
  toStorage: ({ spec, ...slice }: v1beta1.ResourceSlice) => ({
    ...slice,
    ...(spec === undefined ? {} : { spec: toSliceSpec(spec) }),
  }),
  fromStorage: ({ spec, ...slice }: ResourceSlice) => ({
    ...slice,
    ...(spec?.devices == null ? { spec } : { spec: { ...spec, devices: spec.devices.map(fromDevice) } }),
  }),
};

/** In v1beta1, an empty name of a node and `false` are as if they were absent. */
function toSliceSpec({ nodeName, allNodes, devices, ...spec }: v1beta1.ResourceSliceSpec): ResourceSliceSpec {
  return {
    ...spec,
    ...(nodeName ? { nodeName } : {}),
    ...(allNodes === true ? { allNodes } : {}),
    ...(devices == null ? {} : { devices: devices.map(toDevice) }),
  };
}

type Spec<R> = { devices?: { requests?: R[] | null } };

function withRequests<R extends JsonObject, S extends JsonObject>(spec: Spec<R>, convert: (request: R) => S) {
  const { devices } = spec;
  const requests = devices?.requests?.map(convert);
  return requests === undefined ? spec : { ...spec, devices: { ...devices, requests } };
}

function toRequest({ name, firstAvailable, ...one }: v1beta1.DeviceRequest): DeviceRequest {
  const isOne = Object.keys(one).length > 0 || (firstAvailable ?? []).length === 0;
  return {
    ...(name === undefined ? {} : { name }),
    ...(isOne ? { exactly: one } : {}),
    ...(firstAvailable === undefined ? {} : { firstAvailable }),
  };
}

const fromRequest = ({ exactly, ...rest }: DeviceRequest): v1beta1.DeviceRequest => ({ ...rest, ...exactly });

const toDevice = ({ basic, ...rest }: v1beta1.Device): Device => ({ ...rest, ...basic });

function fromDevice({ name, ...basic }: Device): v1beta1.Device {
  return { ...(name === undefined ? {} : { name }), basic };
}

/**
 * v1alpha3 of 1.32 and 1.33 is v1beta1 with plain quantities as capacities. It asks for an exact count unless a request says
 * otherwise, also of a request that has alternatives.
 */
export const claimV1alpha3: Conversion = {
  toStorage: ({ spec, ...claim }: v1alpha3.ResourceClaim) =>
    claimV1beta1.toStorage({ ...claim, ...(spec === undefined ? {} : { spec: withoutCounts(spec) }) }),
  fromStorage: (claim) => claimV1beta1.fromStorage(claim),
};

export const templateV1alpha3: Conversion = {
  toStorage: ({ spec, ...template }: v1alpha3.ResourceClaimTemplate) =>
    templateV1beta1.toStorage({
      ...template,
      ...(spec?.spec === undefined ? { spec } : { spec: { ...spec, spec: withoutCounts(spec.spec) } }),
    }),
  fromStorage: (template) => templateV1beta1.fromStorage(template),
};

const withoutCounts = (spec: Spec<v1alpha3.DeviceRequest>) =>
  withRequests(spec, ({ allocationMode, ...request }: v1alpha3.DeviceRequest) => ({
    ...request,
    ...(allocationMode === undefined || (request.firstAvailable ?? []).length > 0 ? {} : { allocationMode }),
  }));

export const sliceV1alpha3: Conversion = {
  toStorage: ({ spec, ...slice }: v1alpha3.ResourceSlice) =>
    sliceV1beta1.toStorage({
      ...slice,
      ...(spec?.devices == null ? { spec } : { spec: { ...spec, devices: spec.devices.map(withValues) } }),
    }),
  fromStorage: (stored) => {
    const { spec, ...slice }: v1beta1.ResourceSlice = sliceV1beta1.fromStorage(stored);
    return {
      ...slice,
      ...(spec?.devices == null
        ? { spec }
        : { spec: { ...spec, devices: spec.devices.map(withQuantities) } }),
    };
  },
};

const withValues = ({ basic, ...device }: v1alpha3.Device): v1beta1.Device =>
  basic?.capacity === undefined
    ? { ...device, ...(basic === undefined ? {} : { basic: withoutCapacity(basic) }) }
    : { ...device, basic: { ...basic, capacity: eachValue(basic.capacity, (value) => ({ value })) } };

const withQuantities = ({ basic, ...device }: v1beta1.Device): v1alpha3.Device =>
  basic?.capacity === undefined
    ? { ...device, ...(basic === undefined ? {} : { basic: withoutCapacity(basic) }) }
    : { ...device, basic: { ...basic, capacity: eachValue(basic.capacity, ({ value = '0' }) => value) } };

const withoutCapacity = <T extends { capacity?: unknown }>({
  capacity: _,
  ...basic
}: T): Omit<T, 'capacity'> => basic;

const eachValue = <A, B>(map: Readonly<Record<string, A>>, convert: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(map).map(([key, value]) => [key, convert(value)]));
