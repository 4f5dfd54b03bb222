// Written from src/api/idl/resource/v1alpha3.proto by the build. Change that file, not this one.

import type { JsonValue } from '../../json.ts';
import type { NodeSelector } from '../core/v1.ts';
import type { Condition, ListMeta, ObjectMeta } from '../meta/v1.ts';
import type { AllocatedDeviceStatus, CapacityRequirements, CounterSet, DeviceCounterConsumption, DeviceTaint, DeviceToleration } from './stored.ts';

export type { AllocatedDeviceStatus, Counter, CounterSet, DeviceCounterConsumption, DeviceTaint, DeviceToleration, NetworkDeviceData } from './stored.ts';

/** What a claim has been given. */
export type AllocationResult = {
  /** The devices. */
  devices?: DeviceAllocationResult;
  /** Nodes from which the devices can be used. All unless set. */
  nodeSelector?: NodeSelector;
  /** Name of the driver that gave the devices out and will take them back. The scheduler did so if empty. Needs the feature gate DRAControlPlaneController. */
  controller?: string;
};

/** What a device is like. At most 32 attributes and capacities together. */
export type BasicDevice = {
  /** Properties by which it can be selected. Names without a domain belong to that of the driver. */
  attributes?: { [key: string]: DeviceAttribute };
  /** How much of something it has, such as memory. Names without a domain belong to that of the driver. */
  capacity?: { [key: string]: string };
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
};

/** Selects devices by an expression in CEL. */
export type CELDeviceSelector = {
  /** Expression that is true of devices that match. It can use device.driver, device.attributes and device.capacity; the last two by domain and name, such as device.attributes["gpu.example.com"].model. */
  expression?: string;
};

/** A device that can be given out. */
export type Device = {
  /** Name of the device, a DNS label, unique within its pool. */
  name?: string;
  /** What the device is like. Required. */
  basic?: BasicDevice;
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

/** A kind of devices that claims can ask for, with settings made beforehand. Needs the feature gate DynamicResourceAllocation. */
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
  /** Nodes that may have such devices; the scheduler looks at it if a driver's controller gives the devices out. All unless set. Needs the feature gate DRAControlPlaneController. */
  suitableNodes?: NodeSelector;
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
  /** Full name of an attribute, such as dra.example.com/numa, that all the devices must have with the same value. Required. */
  matchAttribute?: string;
};

/** One or more devices of the same kind that a claim wants. */
export type DeviceRequest = {
  /** Name of the request, a DNS label, each once. Containers refer to it. */
  name?: string;
  /** Name of the class the devices must belong to. */
  deviceClassName?: string;
  /** What the devices must be like beyond their class; all selectors must match. At most 32; none unless set. */
  selectors?: DeviceSelector[];
  /** ExactCount for a number of devices, All for every one that matches, of which none may be in use. ExactCount unless set. */
  allocationMode?: string;
  /** How many devices are wanted. Only for ExactCount. 1 unless set. */
  count?: number | bigint;
  /** Wants access to devices for administration, such as monitoring, even while others use them. False unless set. */
  adminAccess?: boolean;
  /** Requests of which the first that can be met is taken. At most 8. Needs the feature gate DRAPrioritizedList. */
  firstAvailable?: DeviceSubRequest[];
  /** Taints of devices that do not keep them from being used. At most 16. Needs the feature gate DRADeviceTaints. */
  tolerations?: DeviceToleration[];
};

/** A device that was given out for a request. */
export type DeviceRequestAllocationResult = {
  /** Name of the request. */
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
};

/** Selects devices. Exactly one field is given. */
export type DeviceSelector = {
  /** Selects them by an expression in CEL. */
  cel?: CELDeviceSelector;
};

/** Settings that only a driver understands. */
export type OpaqueDeviceConfiguration = {
  /** Name of the driver the settings are for. Others take no notice of them. */
  driver?: string;
  /** The settings, a JSON object. It should have apiVersion and kind. */
  parameters?: JsonValue;
};

/** What scheduler and drivers tell each other about a pod, whose name it bears, to find a node for it. Needs the feature gate DRAControlPlaneController. */
export type PodSchedulingContext = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What the scheduler wants to know. */
  spec?: PodSchedulingContextSpec;
  /** What the drivers answer. */
  status?: PodSchedulingContextStatus;
};

/** A list of pod scheduling contexts. */
export type PodSchedulingContextList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The PodSchedulingContexts of this page. */
  items?: PodSchedulingContext[] | null;
};

/** What the scheduler wants to know. */
export type PodSchedulingContextSpec = {
  /** The node the scheduler has chosen. Claims that wait for it are now given their devices there. */
  selectedNode?: string;
  /** Nodes the pod might run on, at most 128. Drivers say which of them do not suit. */
  potentialNodes?: string[];
};

/** What the drivers answer. */
export type PodSchedulingContextStatus = {
  /** The answers, by claim of the pod. */
  resourceClaims?: ResourceClaimSchedulingStatus[];
};

/** Asks for devices, for use by one or more pods. Needs the feature gate DynamicResourceAllocation. */
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

/** Which nodes do not suit one claim of a pod. */
export type ResourceClaimSchedulingStatus = {
  /** Name of the claim in the pod's resource claims. */
  name?: string;
  /** Nodes on which the claim cannot be met, at most 128. */
  unsuitableNodes?: string[];
};

/** Which devices are wanted. Cannot be changed. */
export type ResourceClaimSpec = {
  /** The devices. */
  devices?: DeviceClaim;
  /** Name of the driver whose controller gives the devices out. The scheduler does so unless set. Needs the feature gate DRAControlPlaneController. */
  controller?: string;
};

/** What was given out, and who uses it. */
export type ResourceClaimStatus = {
  /** What the claim has been given. Absent while it has nothing; cannot be changed, only removed. */
  allocation?: AllocationResult;
  /** Who may use the claim, at most 32, such as pods. The claim keeps its devices while it has a user. */
  reservedFor?: ResourceClaimConsumerReference[];
  /** The driver's controller is to take the devices back, and removes this together with the allocation. Needs the feature gate DRAControlPlaneController. */
  deallocationRequested?: boolean;
  /** How the devices are, as their drivers report it. Needs the feature gate DRAResourceClaimDeviceStatus. */
  devices?: AllocatedDeviceStatus[];
};

/** What the resource claims of pods are made from, one for each pod. Needs the feature gate DynamicResourceAllocation. */
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

/** Some of the devices that a driver can give out, written by the driver. Needs the feature gate DynamicResourceAllocation. */
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

/** Which devices there are, and from where they can be used. Exactly one of nodeName, nodeSelector and allNodes is given. */
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
  devices?: Device[] | null;
  /** Each device names its own nodes. Needs the feature gate DRAPartitionableDevices. */
  perDeviceNodeSelection?: boolean;
  /** Counters that the devices of the pool share. At most 8 sets. Needs the feature gate DRAPartitionableDevices. */
  sharedCounters?: CounterSet[];
};

/** A taint of devices that comes from an administrator, not from their driver. Needs the feature gate DRADeviceTaints, and DRADeviceTaintRules since 1.35. */
export type DeviceTaintRule = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** The taint, and which devices have it. */
  spec?: DeviceTaintRuleSpec;
  /** What was last observed. Written by a controller. */
  status?: DeviceTaintRuleStatus;
};

/** A list of device taint rules. */
export type DeviceTaintRuleList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The DeviceTaintRules of this page. */
  items?: DeviceTaintRule[] | null;
};

/** A taint, and which devices have it. */
export type DeviceTaintRuleSpec = {
  /** Which devices have the taint: all that match every field. None unless set; all if empty. */
  deviceSelector?: DeviceTaintSelector;
  /** The taint. */
  taint?: DeviceTaint;
};

/** How the eviction of pods goes. */
export type DeviceTaintRuleStatus = {
  /** The last observations, at most 8, such as EvictionInProgress. */
  conditions?: Condition[];
};

/** Which devices a rule is for. */
export type DeviceTaintSelector = {
  /** Devices that belong to this class. */
  deviceClassName?: string;
  /** Devices of this driver. */
  driver?: string;
  /** Devices of this pool. */
  pool?: string;
  /** Devices of this name. */
  device?: string;
  /** Devices that match all of these. */
  selectors?: DeviceSelector[];
};

/** The devices of a pool, counted. */
export type PoolStatus = {
  /** Name of the driver. */
  driver?: string;
  /** Name of the pool. */
  poolName?: string;
  /** The generation of the pool that was counted. */
  generation?: number | bigint;
  /** How many slices the pool has. */
  resourceSliceCount?: number;
  /** How many devices the pool has. */
  totalDevices?: number;
  /** How many of them are given out. */
  allocatedDevices?: number;
  /** How many of them can be given out. */
  availableDevices?: number;
  /** How many of them can not, because of taints for example. */
  unavailableDevices?: number;
  /** Name of the node to which the pool belongs, if there is one. */
  nodeName?: string;
  /** Why the pool could not be counted, in at most 256 bytes. */
  validationError?: string;
};

/** Asks once how many devices of a driver there are. Needs the feature gate DRAResourcePoolStatus. */
export type ResourcePoolStatusRequest = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Which pools to count. Cannot be changed. */
  spec?: ResourcePoolStatusRequestSpec;
  /** The answer. Written once by a controller. */
  status?: ResourcePoolStatusRequestStatus;
};

/** A list of requests for the state of pools. */
export type ResourcePoolStatusRequestList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The ResourcePoolStatusRequests of this page. */
  items?: ResourcePoolStatusRequest[] | null;
};

/** Which pools to count. */
export type ResourcePoolStatusRequestSpec = {
  /** Name of the driver. */
  driver?: string;
  /** Name of one pool. All of the driver unless set. */
  poolName?: string;
  /** How many pools the answer shows at most, from 1 to 1000. 100 unless set. */
  limit?: number;
};

/** The pools, counted. */
export type ResourcePoolStatusRequestStatus = {
  /** How many pools match, shown or not. */
  poolCount?: number;
  /** The pools, by driver and name, as many as were asked for. */
  pools?: PoolStatus[];
  /** Complete or Failed. At most 10. */
  conditions?: Condition[];
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
