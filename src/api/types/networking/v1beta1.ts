// Written from src/api/idl/networking/v1beta1.proto by the build. Change that file, not this one.

import type { TypedLocalObjectReference } from '../core/v1.ts';
import type { Condition, ListMeta, ObjectMeta } from '../meta/v1.ts';

/** A path, and where requests for it go. */
export type HTTPIngressPath = {
  /** Path of the request, beginning with /. May be empty only for ImplementationSpecific, where it then matches every path. */
  path?: string;
  /** Exact: the path is the same; Prefix: it begins with these elements, as divided by /; ImplementationSpecific: up to the controller. ImplementationSpecific unless set. */
  pathType?: string;
  /** Where the requests go. */
  backend?: IngressBackend;
};

/** Where HTTP requests go, by path. */
export type HTTPIngressRuleValue = {
  /** The paths, at least one. The longest that matches wins; with equal ones, Exact before Prefix. */
  paths?: HTTPIngressPath[] | null;
};

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
  /** The objects. */
  items?: IPAddress[] | null;
};

/** Who an IP address belongs to. */
export type IPAddressSpec = {
  /** The object that holds the address, such as a service. Cannot be changed. */
  parentRef?: ParentReference;
};

/** Routes HTTP requests from outside to services, by host and path. */
export type Ingress = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What is wanted. */
  spec?: IngressSpec;
  /** What was last observed. Written by controllers. */
  status?: IngressStatus;
};

/** Where requests go: a service, or another object that the controller knows. Exactly one is given. */
export type IngressBackend = {
  /** Name of the service that takes the requests, in the namespace of the ingress. */
  serviceName?: string;
  /** Port of the service, by number or name. */
  servicePort?: number | string;
  /** Another object that takes the requests, in the namespace of the ingress. */
  resource?: TypedLocalObjectReference;
};

/** Names the controller that serves a kind of ingress. The class with the annotation ingressclass.kubernetes.io/is-default-class "true" is given to ingresses that name none. */
export type IngressClass = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Which controller the class stands for. */
  spec?: IngressClassSpec;
};

/** A list of ingress classes. */
export type IngressClassList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The objects. */
  items?: IngressClass[] | null;
};

/** Points to an object with settings for the controller. */
export type IngressClassParametersReference = {
  /** API group of the object. The core group unless set. */
  apiGroup?: string;
  /** Kind of the object. */
  kind?: string;
  /** Name of the object. */
  name?: string;
  /** Cluster if the object belongs to the whole cluster, Namespace if it lies in a namespace. Cluster unless set. */
  scope?: string;
  /** Namespace of the object. Required if scope is Namespace, not allowed otherwise. */
  namespace?: string;
};

/** Which controller a class stands for, and with which settings. */
export type IngressClassSpec = {
  /** Name of the controller, with a domain, such as example.com/ingress; at most 250 characters. Cannot be changed. */
  controller?: string;
  /** An object with settings for the controller. None unless set. */
  parameters?: IngressClassParametersReference;
};

/** A list of ingresses. */
export type IngressList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The objects. */
  items?: Ingress[] | null;
};

/** An address at which the ingress can be reached. */
export type IngressLoadBalancerIngress = {
  /** The address, if the load balancer has an IP address. */
  ip?: string;
  /** The host name, if the load balancer has one instead of an IP address. */
  hostname?: string;
  /** What became of each port. */
  ports?: IngressPortStatus[];
};

/** Where the ingress can be reached. */
export type IngressLoadBalancerStatus = {
  /** The addresses. Empty while there are none. */
  ingress?: IngressLoadBalancerIngress[];
};

/** What became of one port of the load balancer. */
export type IngressPortStatus = {
  /** Number of the port. */
  port?: number;
  /** Protocol of the port: TCP, UDP or SCTP. */
  protocol?: string;
  /** Why the port is not served, in one word for programs. Names of your own need a domain, such as example.com/NoQuota. Empty if all is well. */
  error?: string;
};

/** A host, and where requests for it go. */
export type IngressRule = {
  /** Name of the host, without port, such as shop.example.com. An entry such as *.example.com stands for exactly one label more. All hosts unless set. */
  host?: string;
  /** Paths and where they go. */
  http?: HTTPIngressRuleValue;
};

/** Where requests go. Without http, all go to the default backend. */
export type IngressRuleValue = {
  /** Paths and where they go. */
  http?: HTTPIngressRuleValue;
};

/** Which requests go where. */
export type IngressSpec = {
  /** The class of the ingress, and with it the controller that serves it. The default class, if there is one, unless set. */
  ingressClassName?: string;
  /** Where requests go that no rule takes. Required if there are no rules; up to the controller unless set. */
  backend?: IngressBackend;
  /** Certificates, by host. Plain HTTP unless set. */
  tls?: IngressTLS[];
  /** Hosts and paths, and where they go. Without rules, everything goes to the default backend. */
  rules?: IngressRule[];
};

/** What was last observed of an ingress. */
export type IngressStatus = {
  /** Where the ingress can be reached. */
  loadBalancer?: IngressLoadBalancerStatus;
};

/** A certificate and the hosts it is for. */
export type IngressTLS = {
  /** Names of the hosts. They must be in the certificate; all hosts of the controller unless set. */
  hosts?: string[];
  /** Name of the secret with the certificate and key, as tls.crt and tls.key. The certificate is up to the controller unless set. */
  secretName?: string;
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
  /** The objects. */
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
