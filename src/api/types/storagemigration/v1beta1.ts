// Written from src/api/idl/storagemigration/v1beta1.proto by the build. Change that file, not this one.

import type { Condition, GroupResource, ListMeta, ObjectMeta } from '../meta/v1.ts';

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
  resource?: GroupResource;
};

/** What was last observed of a migration. */
export type StorageVersionMigrationStatus = {
  /** Aspects of the state: Running, Succeeded, Failed. */
  conditions?: Condition[];
  /** Revision of the list of objects that are stored anew. Objects written after it need it no more. */
  resourceVersion?: string;
};
