// Written from src/api/idl/apiserverinternal/v1alpha1.proto by the build. Change that file, not this one.

import type { ListMeta, ObjectMeta } from '../meta/v1.ts';

/** In which version one API server stores a resource. */
export type ServerStorageVersion = {
  /** Identifies the API server. */
  apiServerID?: string;
  /** Group and version in which it stores objects. */
  encodingVersion?: string;
  /** Groups and versions it can read. encodingVersion must be among them. */
  decodableVersions?: string[];
  /** Groups and versions in which it answers requests. All must be among decodableVersions. */
  servedVersions?: string[];
};

/** In which versions the API servers store a resource. Its name is group and resource with a dot between. */
export type StorageVersion = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Always empty. */
  spec?: StorageVersionSpec;
  /** In which versions the API servers store the resource. Written by them. */
  status?: StorageVersionStatus;
};

/** One aspect of the state of a storage version, and since when it holds. AllEncodingVersionsEqual tells whether the servers agree. */
export type StorageVersionCondition = {
  /** Which aspect this entry describes. There is at most one entry of each type. */
  type?: string;
  /** Whether it holds: True, False or Unknown. */
  status?: string;
  /** The generation of the object that this entry is about. Out of date if lower than metadata.generation. */
  observedGeneration?: number | bigint;
  /** Since when it has been so. */
  lastTransitionTime?: string | null;
  /** Why, in one word for programs. */
  reason?: string;
  /** Why, in a sentence for people. */
  message?: string;
};

/** A list of storage versions. */
export type StorageVersionList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The StorageVersions of this page. */
  items?: StorageVersion[] | null;
};

/** Always empty; API servers only report. */
export type StorageVersionSpec = {
};

/** In which versions the API servers store a resource. */
export type StorageVersionStatus = {
  /** What each API server does. */
  storageVersions?: ServerStorageVersion[];
  /** The version in which all store the resource. Absent if they do not agree. */
  commonEncodingVersion?: string;
  /** Aspects of the state, each with since when it holds. */
  conditions?: StorageVersionCondition[];
};
