// Written from src/api/idl/networking/v1beta1.proto by the build. Change that file, not this one.

import type { Condition, ListMeta, ObjectMeta } from '../meta/v1.ts';

export type { Ingress, IngressList, IngressClass, IngressClassList } from './v1.ts';

/** An IP address that is taken, usually by a service. Its name is the address itself, in canonical form. */
export type IPAddress = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Who the address belongs to. */
  spec?: IPAddressSpec;
};

/** A list of IP addresses. */
export type IPAddressList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The IPAddresses of this page. */
  items?: IPAddress[] | null;
};

/** Who an IP address belongs to. */
export type IPAddressSpec = {
  /** The object that holds the address, such as a service. Cannot be changed. */
  parentRef?: ParentReference;
};

/** Points to an object of any resource. */
export type ParentReference = {
  /** API group of the resource. Empty for the core group. */
  group?: string;
  /** Name of the resource, in the plural, such as services. */
  resource?: string;
  /** Namespace of the object. Empty for objects of the whole cluster. */
  namespace?: string;
  /** Name of the object. */
  name?: string;
};

/** Ranges of addresses from which services get theirs. Needs the feature gate MultiCIDRServiceAllocator. */
export type ServiceCIDR = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What is wanted. */
  spec?: ServiceCIDRSpec;
  /** What was last observed. Written by controllers. */
  status?: ServiceCIDRStatus;
};

/** A list of service CIDRs. */
export type ServiceCIDRList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The ServiceCIDRs of this page. */
  items?: ServiceCIDR[] | null;
};

/** The ranges of addresses. */
export type ServiceCIDRSpec = {
  /** One range, or one of IPv4 and one of IPv6, such as 10.96.0.0/12. Cannot be changed. */
  cidrs?: string[];
};

/** What was last observed of the ranges. */
export type ServiceCIDRStatus = {
  /** Aspects of the state, each with since when it holds. Ready tells that services can get addresses from the ranges. */
  conditions?: Condition[];
};
