// Written from src/api/idl/apiregistration/v1.proto by the build. Change that file, not this one.

import type { ListMeta, ObjectMeta } from '../meta/v1.ts';

/** Has a group and version served by another server, or by this one. Its name is version and group with a dot between, such as v1.example.com. */
export type APIService = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Which group and version is served, and by whom. */
  spec?: APIServiceSpec;
  /** What was last observed. Written by the server. */
  status?: APIServiceStatus;
};

/** One aspect of the state of an API service, and since when it holds. Available tells that requests can be served. */
export type APIServiceCondition = {
  /** Which aspect this entry describes. There is at most one entry of each type. */
  type?: string;
  /** Whether it holds: True, False or Unknown. */
  status?: string;
  /** Since when it has been so. */
  lastTransitionTime?: string | null;
  /** Why, in one word for programs. */
  reason?: string;
  /** Why, in a sentence for people. */
  message?: string;
};

/** A list of API services. */
export type APIServiceList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The APIServices of this page. */
  items?: APIService[] | null;
};

/** Which group and version is served, and by whom. */
export type APIServiceSpec = {
  /** The service behind which the other server is. Served by this server unless set. */
  service?: ServiceReference;
  /** API group that is served, such as example.com. Empty only for the core group. */
  group?: string;
  /** Version that is served, such as v1. */
  version?: string;
  /** The other server's certificate is not checked. False unless set; not allowed together with caBundle. */
  insecureSkipTLSVerify?: boolean;
  /** Certificates, in PEM, that the other server's certificate is checked against. Those of this server's system unless set. */
  caBundle?: string;
  /** How far in front the group stands when clients choose; higher comes first. From 1 to 20000; of several versions, the highest number counts. */
  groupPriorityMinimum?: number;
  /** How far in front the version stands within its group; higher comes first. From 1 to 1000; equal ones are ordered by their names, stable before beta and alpha. */
  versionPriority?: number;
};

/** What was last observed of an API service. */
export type APIServiceStatus = {
  /** Aspects of the state, each with since when it holds. */
  conditions?: APIServiceCondition[];
};

/** A service behind which a server is. */
export type ServiceReference = {
  /** Namespace of the service. Required. */
  namespace?: string;
  /** Name of the service. Required. */
  name?: string;
  /** Port of the service, from 1 to 65535. 443 unless set. */
  port?: number;
};
