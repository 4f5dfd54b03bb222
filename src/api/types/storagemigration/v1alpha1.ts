// Written from src/api/idl/storagemigration/v1alpha1.proto by the build. Change that file, not this one.

import type { ListMeta, ObjectMeta } from '../meta/v1.ts';

/** A resource in one version of its group. */
export type GroupVersionResource = {
  /** API group. Empty for the core group. */
  group?: string;
  /** Version. */
  version?: string;
  /** Name of the resource, in the plural. */
  resource?: string;
};

/** One aspect of the state of a migration: Running, Succeeded or Failed. */
export type MigrationCondition = {
  /** Which aspect this entry describes. There is at most one entry of each type. */
  type?: string;
  /** Whether it holds: True, False or Unknown. */
  status?: string;
  /** When this entry was last written. */
  lastUpdateTime?: string | null;
  /** Why, in one word for programs. */
  reason?: string;
  /** Why, in a sentence for people. */
  message?: string;
};

/** Asks that all objects of a resource be stored anew, in the version in which they are stored now. */
export type StorageVersionMigration = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What is wanted. */
  spec?: StorageVersionMigrationSpec;
  /** What was last observed. Written by controllers. */
  status?: StorageVersionMigrationStatus;
};

/** A list of storage version migrations. */
export type StorageVersionMigrationList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The StorageVersionMigrations of this page. */
  items?: StorageVersionMigration[] | null;
};

/** What is to be stored anew. */
export type StorageVersionMigrationSpec = {
  /** The resource. Cannot be changed. */
  resource?: GroupVersionResource;
  /** Where to go on in the list of objects. From the beginning unless set. */
  continueToken?: string;
};

/** What was last observed of a migration. */
export type StorageVersionMigrationStatus = {
  /** Aspects of the state. */
  conditions?: MigrationCondition[];
  /** Revision of the list of objects that are stored anew. Objects written after it need it no more. */
  resourceVersion?: string;
};
