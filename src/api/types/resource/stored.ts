// Written from src/api/idl/resource/stored.proto by the build. Change that file, not this one.

import type { JsonValue } from '../../json.ts';
import type { NodeSelector } from '../core/v1.ts';
import type { Condition, ListMeta, ObjectMeta } from '../meta/v1.ts';

/** How a device is that a claim has been given. */
export type AllocatedDeviceStatus = {
  /** Name of the driver. */
  driver?: string;
  /** Name of the pool. */
  pool?: string;
  /** Name of the device in its pool. */
  device?: string;
  /** Which share of the device. Needs the feature gate DRAConsumableCapacity. */
  shareID?: string;
  /** The last observations, at most 8. */
  conditions?: Condition[];
  /** What only the driver understands; at most 10 KiB. */
  data?: JsonValue;
  /** How the device is reached in a network. */
  networkData?: NetworkDeviceData;
};

/** What a claim has been given. */
export type AllocationResult = {
  /** The devices. */
  devices?: DeviceAllocationResult;
  /** Nodes from which the devices can be used. All unless set. */
  nodeSelector?: NodeSelector;
  /** When the devices were given out. Needs the feature gate DRADeviceBindingConditions. */
  allocationTimestamp?: string | null;
};

/** Selects devices by an expression in CEL. */
export type CELDeviceSelector = {
  /** Expression that is true of devices that match. It can use device.driver, device.attributes and device.capacity; the last two by domain and name, such as device.attributes["gpu.example.com"].model. */
  expression?: string;
};

/** How much of a capacity requests may take. */
export type CapacityRequestPolicy = {
  /** How much a request takes that does not say it. */
  default?: string;
  /** The amounts to which requests are rounded up, in rising order; at most 10. */
  validValues?: string[];
  /** The range in which amounts must be. */
  validRange?: CapacityRequestPolicyRange;
};

/** A range of amounts. */
export type CapacityRequestPolicyRange = {
  /** The least amount. */
  min?: string;
  /** The largest amount. */
  max?: string;
  /** The distance between amounts. */
  step?: string;
};

/** How much a request wants of a device. */
export type CapacityRequirements = {
  /** The amounts, by name of the capacity. */
  requests?: { [key: string]: string };
};

/** An amount that devices take from. */
export type Counter = {
  /** How much there is. */
  value?: string;
};

/** Counters that devices share. */
export type CounterSet = {
  /** Name of the set, a DNS label, unique within the pool. */
  name?: string;
  /** The counters, by name; at most 32. */
  counters?: { [key: string]: Counter };
};

/** A device that can be given out, and what it is like. At most 32 attributes and capacities together. */
export type Device = {
  /** Name of the device, a DNS label, unique within its pool. */
  name?: string;
  /** Properties by which it can be selected. Names without a domain belong to that of the driver. */
  attributes?: { [key: string]: DeviceAttribute };
  /** How much of something it has, such as memory. Names without a domain belong to that of the driver. */
  capacity?: { [key: string]: DeviceCapacity };
  /** What the device takes from the counters of its pool when it is given out. At most 2. Needs the feature gate DRAPartitionableDevices. */
  consumesCounters?: DeviceCounterConsumption[];
  /** Name of the node that has the device. Only where the slice says that each device names its nodes. Needs the feature gate DRAPartitionableDevices. */
  nodeName?: string;
  /** Nodes from which the device can be used, in exactly one term; else as nodeName. */
  nodeSelector?: NodeSelector;
  /** The device can be used from all nodes; else as nodeName. */
  allNodes?: boolean;
  /** Why the device should not be used. At most 16. Needs the feature gate DRADeviceTaints. */
  taints?: DeviceTaint[];
  /** A claim that is given the device is bound to the node that was chosen for it. Needs the feature gate DRADeviceBindingConditions. */
  bindsToNode?: boolean;
  /** Conditions that must be true before a pod is bound. At most 4. Needs the feature gate DRADeviceBindingConditions. */
  bindingConditions?: string[];
  /** Conditions that mean the device cannot be made ready. At most 4. Needs the feature gate DRADeviceBindingConditions. */
  bindingFailureConditions?: string[];
  /** The device can be given to several requests at once. Needs the feature gate DRAConsumableCapacity. */
  allowMultipleAllocations?: boolean;
  /** What the device takes of the resources of its node, such as cpu, by resource. Needs the feature gate DRANodeAllocatableResources. */
  nodeAllocatableResourceMappings?: { [key: string]: NodeAllocatableResourceMapping };
};

/** Settings for some of the devices given out, and where they come from. */
export type DeviceAllocationConfiguration = {
  /** FromClass if the settings are from the device class, FromClaim if from the claim. */
  source?: string;
  /** Names of the requests the settings are for. All if empty. */
  requests?: string[];
  /** Settings that only the driver understands. */
  opaque?: OpaqueDeviceConfiguration;
};

/** The devices that a claim has been given, and their settings. */
export type DeviceAllocationResult = {
  /** The devices, at most 32. */
  results?: DeviceRequestAllocationResult[];
  /** Settings for the drivers. Those of the classes come first, those of the claim after them; what comes later wins. */
  config?: DeviceAllocationConfiguration[];
};

/** The value of an attribute. Exactly one field is given. */
export type DeviceAttribute = {
  /** A number. */
  int?: number | bigint;
  /** True or false. */
  bool?: boolean;
  /** A text of at most 64 characters. */
  string?: string;
  /** A version such as 1.2.3, after semver.org; at most 64 characters. */
  version?: string;
  /** Several numbers. Needs the feature gate DRAListTypeAttributes. */
  ints?: (number | bigint)[];
  /** Several of true and false. Needs the feature gate DRAListTypeAttributes. */
  bools?: boolean[];
  /** Several texts of at most 64 characters. Needs the feature gate DRAListTypeAttributes. */
  strings?: string[];
  /** Several versions. Needs the feature gate DRAListTypeAttributes. */
  versions?: string[];
};

/** How much of something a device has. */
export type DeviceCapacity = {
  /** The amount. */
  value?: string;
  /** How much of it a request takes. Only for devices that can be given to several. Needs the feature gate DRAConsumableCapacity. */
  requestPolicy?: CapacityRequestPolicy;
};

/** Which devices a claim wants. */
export type DeviceClaim = {
  /** The devices, by requests that must all be met. At most 32. */
  requests?: DeviceRequest[] | null;
  /** What must hold for several requests together. At most 32; none unless set. */
  constraints?: DeviceConstraint[];
  /** Settings for the drivers, passed on to them as they are. At most 32; none unless set. */
  config?: DeviceClaimConfiguration[];
};

/** Settings for the devices of some requests. */
export type DeviceClaimConfiguration = {
  /** Names of the requests the settings are for. All if empty. */
  requests?: string[];
  /** Settings that only the driver understands. */
  opaque?: OpaqueDeviceConfiguration;
};

/** A kind of devices that claims can ask for, with settings made beforehand. */
export type DeviceClass = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Which devices belong to the class, and their settings. */
  spec?: DeviceClassSpec;
};

/** Settings for the devices of a class. */
export type DeviceClassConfiguration = {
  /** Settings that only the driver understands. */
  opaque?: OpaqueDeviceConfiguration;
};

/** A list of device classes. */
export type DeviceClassList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The DeviceClasses of this page. */
  items?: DeviceClass[] | null;
};

/** Which devices belong to a class, and their settings. */
export type DeviceClassSpec = {
  /** What devices must be like; all selectors must match. At most 32; any device unless set. */
  selectors?: DeviceSelector[];
  /** Settings for the drivers of devices that are asked for by this class. At most 32; none unless set. */
  config?: DeviceClassConfiguration[];
  /** The extended resource that pods can ask for instead of a claim. Needs the feature gate DRAExtendedResource. */
  extendedResourceName?: string;
};

/** Settings for devices. Exactly one field is given. */
export type DeviceConfiguration = {
  /** Settings that only the driver understands. */
  opaque?: OpaqueDeviceConfiguration;
};

/** What must hold for the devices of several requests together. */
export type DeviceConstraint = {
  /** Names of the requests. All of the claim if empty. */
  requests?: string[];
  /** Full name of an attribute, such as dra.example.com/numa, that all the devices must have with the same value. */
  matchAttribute?: string;
  /** Full name of an attribute of which each device must have another value. Needs the feature gate DRAConsumableCapacity. */
  distinctAttribute?: string;
};

/** What a device takes from a set of counters. */
export type DeviceCounterConsumption = {
  /** Name of the set. */
  counterSet?: string;
  /** How much of each counter, by name. */
  counters?: { [key: string]: Counter };
};

/** Devices that a claim wants. Exactly one of exactly and firstAvailable is given. */
export type DeviceRequest = {
  /** Name of the request, a DNS label, each once. Containers refer to it. */
  name?: string;
  /** The devices, if there is one way to meet the request. */
  exactly?: ExactDeviceRequest;
  /** Requests of which the first that can be met is taken. At most 8. Needs the feature gate DRAPrioritizedList. */
  firstAvailable?: DeviceSubRequest[];
};

/** A device that was given out for a request. */
export type DeviceRequestAllocationResult = {
  /** Name of the request, or of the request and the alternative that was taken, with a slash between them. */
  request?: string;
  /** Name of the driver of the device. */
  driver?: string;
  /** Name of the pool the device is from. */
  pool?: string;
  /** Name of the device in its pool. */
  device?: string;
  /** The device was given for administration, and may be in use by others. Needs the feature gate DRAAdminAccess. */
  adminAccess?: boolean;
  /** The tolerations of the request. */
  tolerations?: DeviceToleration[];
  /** The conditions of the device that must be true before a pod is bound. Needs the feature gate DRADeviceBindingConditions. */
  bindingConditions?: string[];
  /** The conditions of the device that mean it cannot be made ready. Needs the feature gate DRADeviceBindingConditions. */
  bindingFailureConditions?: string[];
  /** Tells the shares of a device apart that is given to several requests. Needs the feature gate DRAConsumableCapacity. */
  shareID?: string;
  /** How much of the device was given. Needs the feature gate DRAConsumableCapacity. */
  consumedCapacity?: { [key: string]: string };
};

/** Selects devices. Exactly one field is given. */
export type DeviceSelector = {
  /** Selects them by an expression in CEL. */
  cel?: CELDeviceSelector;
};

/** One of several ways to meet a request. */
export type DeviceSubRequest = {
  /** Name of the alternative, a DNS label, each once in its request. */
  name?: string;
  /** Name of the class the devices must belong to. */
  deviceClassName?: string;
  /** What the devices must be like beyond their class; all selectors must match. At most 32; none unless set. */
  selectors?: DeviceSelector[];
  /** ExactCount for a number of devices, All for every one that matches, of which none may be in use. ExactCount unless set. */
  allocationMode?: string;
  /** How many devices are wanted. Only for ExactCount. 1 unless set. */
  count?: number | bigint;
  /** Taints of devices that do not keep them from being used. At most 16. Needs the feature gate DRADeviceTaints. */
  tolerations?: DeviceToleration[];
  /** How much of each device is wanted. Needs the feature gate DRAConsumableCapacity. */
  capacity?: CapacityRequirements;
};

/** Why a device should not be used. */
export type DeviceTaint = {
  /** Key of the taint, a label name. */
  key?: string;
  /** Value of the taint, a label value. */
  value?: string;
  /** What it does to claims without a toleration: NoSchedule, NoExecute, or, since 1.35, None. */
  effect?: string;
  /** When the taint was added. The server sets it. */
  timeAdded?: string | null;
};

/** A taint that does not keep a device from being used. */
export type DeviceToleration = {
  /** Key of the taint. All if empty. */
  key?: string;
  /** Exists, or Equal, which compares the value. Equal unless set. */
  operator?: string;
  /** Value of the taint. */
  value?: string;
  /** Effect of the taint. All if empty. */
  effect?: string;
  /** How long the taint is tolerated, for NoExecute. For ever unless set. */
  tolerationSeconds?: number | bigint;
};

/** One or more devices of the same kind. */
export type ExactDeviceRequest = {
  /** Name of the class the devices must belong to. */
  deviceClassName?: string;
  /** What the devices must be like beyond their class; all selectors must match. At most 32; none unless set. */
  selectors?: DeviceSelector[];
  /** ExactCount for a number of devices, All for every one that matches, of which none may be in use. ExactCount unless set. */
  allocationMode?: string;
  /** How many devices are wanted. Only for ExactCount. 1 unless set. */
  count?: number | bigint;
  /** Wants access to devices for administration, such as monitoring, even while others use them. Only in namespaces that allow it by a label. Needs the feature gate DRAAdminAccess. */
  adminAccess?: boolean;
  /** Taints of devices that do not keep them from being used. At most 16. Needs the feature gate DRADeviceTaints. */
  tolerations?: DeviceToleration[];
  /** How much of each device is wanted. Needs the feature gate DRAConsumableCapacity. */
  capacity?: CapacityRequirements;
};

/** How a device is reached in a network. */
export type NetworkDeviceData = {
  /** Name of the interface, at most 256 characters. */
  interfaceName?: string;
  /** Addresses of the interface with their networks, such as 192.0.2.5/24. At most 16. */
  ips?: string[];
  /** Hardware address of the interface, at most 128 characters. */
  hardwareAddress?: string;
};

/** What a device takes of a resource of its node. */
export type NodeAllocatableResourceMapping = {
  /** The capacity of the device that tells the amount. The amount is that of the device as a whole unless set. */
  capacityKey?: string;
  /** What the amount is multiplied by. */
  allocationMultiplier?: string;
};

/** Settings that only a driver understands. */
export type OpaqueDeviceConfiguration = {
  /** Name of the driver the settings are for. Others take no notice of them. */
  driver?: string;
  /** The settings, a JSON object. It should have apiVersion and kind. */
  parameters?: JsonValue;
};

/** Asks for devices, for use by one or more pods. */
export type ResourceClaim = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Which devices are wanted. */
  spec?: ResourceClaimSpec;
  /** What was given out, and who uses it. Written by the scheduler and controllers. */
  status?: ResourceClaimStatus;
};

/** An object that uses a claim, in the same namespace. */
export type ResourceClaimConsumerReference = {
  /** API group of the object. Empty for the core group. */
  apiGroup?: string;
  /** Resource of the object, in the plural, such as pods. */
  resource?: string;
  /** Name of the object. */
  name?: string;
  /** UID of the object. */
  uid?: string;
};

/** A list of resource claims. */
export type ResourceClaimList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The ResourceClaims of this page. */
  items?: ResourceClaim[] | null;
};

/** Which devices are wanted. Cannot be changed. */
export type ResourceClaimSpec = {
  /** The devices. */
  devices?: DeviceClaim;
};

/** What was given out, and who uses it. */
export type ResourceClaimStatus = {
  /** What the claim has been given. Absent while it has nothing; cannot be changed, only removed. */
  allocation?: AllocationResult;
  /** Who may use the claim, at most 256, such as pods. The claim keeps its devices while it has a user. */
  reservedFor?: ResourceClaimConsumerReference[];
  /** How the devices are, as their drivers report it. Needs the feature gate DRAResourceClaimDeviceStatus. */
  devices?: AllocatedDeviceStatus[];
};

/** What the resource claims of pods are made from, one for each pod. */
export type ResourceClaimTemplate = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** The claims to make. Cannot be changed. */
  spec?: ResourceClaimTemplateSpec;
};

/** A list of resource claim templates. */
export type ResourceClaimTemplateList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The ResourceClaimTemplates of this page. */
  items?: ResourceClaimTemplate[] | null;
};

/** What a claim is made from. */
export type ResourceClaimTemplateSpec = {
  /** Labels and annotations that the claims get. */
  metadata?: ObjectMeta;
  /** What is wanted of the claims. */
  spec?: ResourceClaimSpec;
};

/** The pool a slice belongs to. */
export type ResourcePool = {
  /** Name of the pool, often that of the node. DNS names, possibly several with slashes between. */
  name?: string;
  /** Number that the driver raises with every change of the pool. Slices with a lower one are out of date. */
  generation?: number | bigint;
  /** How many slices the pool has in this generation, at least 1. Until all are there, the pool is incomplete. */
  resourceSliceCount?: number | bigint;
};

/** Some of the devices that a driver can give out, written by the driver. */
export type ResourceSlice = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Which devices there are, and from where they can be used. */
  spec?: ResourceSliceSpec;
};

/** A list of resource slices. */
export type ResourceSliceList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The ResourceSlices of this page. */
  items?: ResourceSlice[] | null;
};

/** Which devices there are, and from where they can be used. Exactly one of nodeName, nodeSelector, allNodes and perDeviceNodeSelection is given. */
export type ResourceSliceSpec = {
  /** Name of the driver. Cannot be changed. */
  driver?: string;
  /** The pool the devices belong to. */
  pool?: ResourcePool;
  /** Name of the node to which the devices belong. Cannot be changed. */
  nodeName?: string;
  /** Nodes from which the devices can be used. It has exactly one term. */
  nodeSelector?: NodeSelector;
  /** The devices can be used from all nodes. */
  allNodes?: boolean;
  /** The devices, at most 128. */
  devices?: Device[];
  /** Each device names its own nodes. Needs the feature gate DRAPartitionableDevices. */
  perDeviceNodeSelection?: boolean;
  /** Counters that the devices of the pool share. At most 8 sets. Needs the feature gate DRAPartitionableDevices. */
  sharedCounters?: CounterSet[];
};
