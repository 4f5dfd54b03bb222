// Written from src/api/idl/networking/v1beta1.proto by the build. Change that file, not this one.

export type { Ingress, IngressList, IngressClass, IngressClassList, IPAddress, IPAddressList, IPAddressSpec, ParentReference, ServiceCIDR, ServiceCIDRList, ServiceCIDRSpec, ServiceCIDRStatus } from './v1.ts';
