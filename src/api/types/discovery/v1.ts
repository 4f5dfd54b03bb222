// Written from src/api/idl/discovery/v1.proto by the build. Change that file, not this one.

import type { ObjectReference } from '../core/v1.ts';
import type { ListMeta, ObjectMeta } from '../meta/v1.ts';

/** One place behind a service, usually a pod. */
export type Endpoint = {
  /** Its addresses, from 1 to 100, of the slice's type. They all mean the same place; service proxies use only the first. */
  addresses?: string[] | null;
  /** What is known of its state. */
  conditions?: EndpointConditions;
  /** Host name of the place, a DNS label. Unless set, it has no name of its own in DNS. */
  hostname?: string;
  /** The object that stands behind the addresses, usually a pod. */
  targetRef?: ObjectReference;
  /** Labels of place from before version v1 of this type. Read-only; use nodeName and zone. */
  deprecatedTopology?: { [key: string]: string };
  /** Name of the node it is on. */
  nodeName?: string;
  /** Name of the zone it is in. */
  zone?: string;
  /** For whom it is best used. For everyone unless set. */
  hints?: EndpointHints;
};

/** What is known of the state of a place behind a service. */
export type EndpointConditions = {
  /** New connections may go there. True of pods that are ready and not being deleted. To be taken as true if absent. */
  ready?: boolean;
  /** It answers, even if it is being deleted. To be taken as the same as ready if absent. */
  serving?: boolean;
  /** It is being deleted. To be taken as false if absent. */
  terminating?: boolean;
};

/** For whom a place behind a service is best used. */
export type EndpointHints = {
  /** Zones whose clients should use it, at most 8. */
  forZones?: ForZone[];
  /** Nodes whose clients should use the endpoint. Up to 8. Needs the feature gate PreferSameTrafficDistribution. */
  forNodes?: ForNode[];
};

/** A port at which the places of a slice can be reached. */
export type EndpointPort = {
  /** Name of the port, as in the service; each can appear once. Empty unless set. */
  name?: string;
  /** TCP, UDP or SCTP. TCP unless set. */
  protocol?: string;
  /** Number of the port. Absent, all ports may be meant, as the one who uses the slice sees fit. */
  port?: number;
  /** The protocol spoken on top, as a hint: an IANA service name, kubernetes.io/h2c, kubernetes.io/ws, kubernetes.io/wss, or a name with a prefix of your own. Unknown unless set. */
  appProtocol?: string;
};

/** A part of the addresses behind a service. The label kubernetes.io/service-name names the service. */
export type EndpointSlice = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What the addresses are: IPv4, IPv6 or FQDN. Cannot be changed. */
  addressType?: string;
  /** The places behind the service, at most 1000. */
  endpoints?: Endpoint[] | null;
  /** The ports at which every one of them can be reached. None if empty. */
  ports?: EndpointPort[] | null;
};

/** A list of endpoint slices. */
export type EndpointSliceList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The EndpointSlices of this page. */
  items?: EndpointSlice[] | null;
};

/** A zone whose clients should use a place. */
export type ForZone = {
  /** Name of the zone. */
  name?: string;
};

/** A node whose clients should use an endpoint. */
export type ForNode = {
  /** Name of the node. */
  name?: string;
};
