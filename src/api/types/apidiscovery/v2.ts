// Written from src/api/idl/apidiscovery/v2.proto by the build. Change that file, not this one.

import type { GroupVersionKind, ListMeta, ObjectMeta } from '../meta/v1.ts';

/** An API group with its versions and resources. Its name is the group. */
export type APIGroupDiscovery = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** The versions that are served, in the order in which clients should choose. */
  versions?: APIVersionDiscovery[];
};

/** All API groups the server has, most important first. */
export type APIGroupDiscoveryList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The APIGroupDiscoveries of this page. */
  items?: APIGroupDiscovery[] | null;
};

/** A resource that is served. */
export type APIResourceDiscovery = {
  /** Name of the resource, in the plural. */
  resource?: string;
  /** Kind of the objects. Empty if nothing but subresources is served. */
  responseKind?: GroupVersionKind;
  /** Cluster if objects belong to the whole cluster, Namespaced if they lie in namespaces. */
  scope?: string;
  /** Name in the singular, for commands. May be empty. */
  singularResource?: string;
  /** What can be done with it, such as get, list and create. */
  verbs?: string[] | null;
  /** Short names for commands. */
  shortNames?: string[];
  /** Groups of resources it belongs to, such as all. */
  categories?: string[];
  /** Subresources the objects have. */
  subresources?: APISubresourceDiscovery[];
};

/** A subresource that is served. */
export type APISubresourceDiscovery = {
  /** Name of the subresource. */
  subresource?: string;
  /** Kind of what requests are answered with. Absent if it is no object of a kind. */
  responseKind?: GroupVersionKind;
  /** Kinds that can be sent. That of the answers if empty. */
  acceptedTypes?: GroupVersionKind[];
  /** What can be done with it, such as get and update. */
  verbs?: string[] | null;
};

/** A version of an API group with its resources. */
export type APIVersionDiscovery = {
  /** Name of the version. */
  version?: string;
  /** The resources. */
  resources?: APIResourceDiscovery[];
  /** Current if the list is up to date; Stale if the server behind the version could not be reached and the list may be old. */
  freshness?: string;
};
