// Written from src/api/idl/resource/v1beta1.proto by the build. Change that file, not this one.

import type { NodeSelector } from '../core/v1.ts';
import type { ListMeta, ObjectMeta } from '../meta/v1.ts';
import type { CapacityRequirements, CounterSet, DeviceAttribute, DeviceCapacity, DeviceClaimConfiguration, DeviceConstraint, DeviceCounterConsumption, DeviceSelector, DeviceTaint, DeviceToleration, NodeAllocatableResourceMapping, ResourceClaimStatus, ResourcePool } from './stored.ts';

export type { AllocatedDeviceStatus, AllocationResult, CELDeviceSelector, CapacityRequestPolicy, CapacityRequestPolicyRange, CapacityRequirements, Counter, CounterSet, DeviceAllocationConfiguration, DeviceAllocationResult, DeviceAttribute, DeviceCapacity, DeviceClaimConfiguration, DeviceClass, DeviceClassConfiguration, DeviceClassList, DeviceClassSpec, DeviceConfiguration, DeviceConstraint, DeviceCounterConsumption, DeviceRequestAllocationResult, DeviceSelector, DeviceTaint, DeviceToleration, NetworkDeviceData, NodeAllocatableResourceMapping, OpaqueDeviceConfiguration, ResourceClaimConsumerReference, ResourceClaimStatus, ResourcePool } from './stored.ts';

/** What a device is like. At most 32 attributes and capacities together. */
export type BasicDevice = {
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

/** A device that can be given out. */
export type Device = {
  /** Name of the device, a DNS label, unique within its pool. */
  name?: string;
  /** What the device is like. Required. */
  basic?: BasicDevice;
};

/** Devices that a claim wants: of one kind, or the first of several kinds that can be had. */
export type DeviceRequest = {
  /** Name of the request, a DNS label, each once. Containers refer to it. */
  name?: string;
  /** Name of the class the devices must belong to. Required unless firstAvailable is given. */
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
  /** Requests of which the first that can be met is taken. At most 8. Needs the feature gate DRAPrioritizedList. */
  firstAvailable?: DeviceSubRequest[];
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

/** Which devices a claim wants. */
export type DeviceClaim = {
  /** The devices, by requests that must all be met. At most 32. */
  requests?: DeviceRequest[] | null;
  /** What must hold for several requests together. At most 32; none unless set. */
  constraints?: DeviceConstraint[];
  /** Settings for the drivers, passed on to them as they are. At most 32; none unless set. */
  config?: DeviceClaimConfiguration[];
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
