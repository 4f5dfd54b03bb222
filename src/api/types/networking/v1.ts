// Written from src/api/idl/networking/v1.proto by the build. Change that file, not this one.

import type { TypedLocalObjectReference } from '../core/v1.ts';
import type { Condition, LabelSelector, ListMeta, ObjectMeta } from '../meta/v1.ts';

/** A path, and where requests for it go. */
export type HTTPIngressPath = {
  /** Path of the request, beginning with /. May be empty only for ImplementationSpecific, where it then matches every path. */
  path?: string;
  /** Exact: the path is the same; Prefix: it begins with these elements, as divided by /; ImplementationSpecific: up to the controller. Required. */
  pathType?: string;
  /** Where the requests go. */
  backend?: IngressBackend;
};

/** Where HTTP requests go, by path. */
export type HTTPIngressRuleValue = {
  /** The paths, at least one. The longest that matches wins; with equal ones, Exact before Prefix. */
  paths?: HTTPIngressPath[] | null;
};

/** A range of IP addresses, with exceptions. */
export type IPBlock = {
  /** The range, such as 192.168.0.0/16 or 2001:db8::/64. */
  cidr?: string;
  /** Parts of the range that do not belong to it. Each must lie within cidr and be smaller. */
  except?: string[];
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
  /** The service that takes the requests, in the namespace of the ingress. */
  service?: IngressServiceBackend;
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
  /** The IngressClasses of this page. */
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
  /** The Ingresses of this page. */
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

/** A port of a service. */
export type IngressServiceBackend = {
  /** Name of the service, in the namespace of the ingress. */
  name?: string;
  /** Port of the service. */
  port?: ServiceBackendPort;
};

/** Which requests go where. */
export type IngressSpec = {
  /** The class of the ingress, and with it the controller that serves it. The default class, if there is one, unless set. */
  ingressClassName?: string;
  /** Where requests go that no rule takes. Required if there are no rules; up to the controller unless set. */
  defaultBackend?: IngressBackend;
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

/** Says which connections to and from pods are allowed. Pods that no policy selects may connect freely. */
export type NetworkPolicy = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Which pods the policy is about, and what they may do. */
  spec?: NetworkPolicySpec;
};

/** Connections from the pods that are allowed: those that match both ports and to. */
export type NetworkPolicyEgressRule = {
  /** The ports that may be reached. All unless set. */
  ports?: NetworkPolicyPort[];
  /** Who may be reached. Everyone unless set. */
  to?: NetworkPolicyPeer[];
};

/** Connections to the pods that are allowed: those that match both ports and from. */
export type NetworkPolicyIngressRule = {
  /** The ports of the pods that may be reached. All unless set. */
  ports?: NetworkPolicyPort[];
  /** Who may connect. Everyone unless set. */
  from?: NetworkPolicyPeer[];
};

/** A list of network policies. */
export type NetworkPolicyList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The NetworkPolicies of this page. */
  items?: NetworkPolicy[] | null;
};

/** The other end of a connection: pods, or a range of addresses. */
export type NetworkPolicyPeer = {
  /** Selects pods by their labels, in the namespaces of namespaceSelector or, without one, in that of the policy. An empty selector takes all pods. */
  podSelector?: LabelSelector;
  /** Selects namespaces by their labels. An empty selector takes all. Without podSelector, all pods in them. */
  namespaceSelector?: LabelSelector;
  /** A range of addresses. Cannot be used together with the selectors. */
  ipBlock?: IPBlock;
};

/** A port, or a range of ports. */
export type NetworkPolicyPort = {
  /** TCP, UDP or SCTP. TCP unless set. */
  protocol?: string;
  /** The port of the pod, by number or name. All ports of the protocol unless set. */
  port?: number | string;
  /** Last port of a range that begins at port, which must then be a number. One port only unless set. */
  endPort?: number;
};

/** Which pods a policy is about, and what they may do. What any policy allows is allowed. */
export type NetworkPolicySpec = {
  /** Selects the pods of the namespace that the policy is about. An empty selector takes all. */
  podSelector?: LabelSelector;
  /** Connections to the pods that are allowed. None, if the policy is about Ingress and there is no rule. */
  ingress?: NetworkPolicyIngressRule[];
  /** Connections from the pods that are allowed. None, if the policy is about Egress and there is no rule. */
  egress?: NetworkPolicyEgressRule[];
  /** Which directions the policy limits: Ingress, Egress or both. Unless set, Ingress, and Egress too if there are egress rules. */
  policyTypes?: string[];
};

/** A port of a service, by name or by number. Exactly one is given. */
export type ServiceBackendPort = {
  /** Name of the port. */
  name?: string;
  /** Number of the port. */
  number?: number;
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
