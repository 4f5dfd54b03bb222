// Written from src/api/idl/storage/v1alpha1.proto by the build. Change that file, not this one.

import type { PersistentVolumeSpec } from '../core/v1.ts';
import type { LabelSelector, ListMeta, ObjectMeta } from '../meta/v1.ts';

/** How much storage of a class is left in one part of the cluster. Reported by CSI drivers, for the scheduler. */
export type CSIStorageCapacity = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Selects the nodes that can reach the storage. An empty selector takes all nodes, none at all takes no node. Cannot be changed. */
  nodeTopology?: LabelSelector;
  /** Name of the storage class. Cannot be changed. */
  storageClassName?: string;
  /** How much storage is left. Unknown unless set; the scheduler then takes it as too little. */
  capacity?: string;
  /** Size of the largest volume that can be made. Unlike capacity, it allows for storage in separate pieces. Counts instead of capacity if set. */
  maximumVolumeSize?: string;
};

/** A list of storage capacities. */
export type CSIStorageCapacityList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The objects. */
  items?: CSIStorageCapacity[] | null;
};

/** Asks that a volume be attached to a node. It stays for as long as the volume is to be attached. */
export type VolumeAttachment = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Which volume to attach to which node. */
  spec?: VolumeAttachmentSpec;
  /** How far it has come. Written by whoever attaches the volume. */
  status?: VolumeAttachmentStatus;
};

/** A list of volume attachments. */
export type VolumeAttachmentList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The objects. */
  items?: VolumeAttachment[] | null;
};

/** The volume that is attached. Exactly one is given. */
export type VolumeAttachmentSource = {
  /** Name of the persistent volume. */
  persistentVolumeName?: string;
  /** A volume written in a pod, in the form of a persistent volume. Used for volumes of older kinds that a CSI driver serves. */
  inlineVolumeSpec?: PersistentVolumeSpec;
};

/** Which volume to attach to which node, and who does it. Cannot be changed. */
export type VolumeAttachmentSpec = {
  /** Name of the CSI driver that attaches the volume. */
  attacher?: string;
  /** The volume. */
  source?: VolumeAttachmentSource;
  /** Name of the node. */
  nodeName?: string;
};

/** How far attaching or detaching has come. Written by whoever does it. */
export type VolumeAttachmentStatus = {
  /** The volume is attached. */
  attached?: boolean;
  /** What the driver said when it attached the volume; it is passed on when the volume is mounted. */
  attachmentMetadata?: { [key: string]: string };
  /** The last error in attaching. Removed once it succeeds. */
  attachError?: VolumeError;
  /** The last error in detaching. Removed once it succeeds. */
  detachError?: VolumeError;
};

/** A set of properties of volumes that can be changed during their life, such as speed. Needs the feature gate VolumeAttributesClass. */
export type VolumeAttributesClass = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Name of the CSI driver that understands the properties. Cannot be changed. */
  driverName?: string;
  /** The properties, from 1 to 512 and 256 KiB in all. Their meaning is up to the driver. Cannot be changed. */
  parameters?: { [key: string]: string };
};

/** A list of volume attributes classes. */
export type VolumeAttributesClassList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The objects. */
  items?: VolumeAttributesClass[] | null;
};

/** An error in attaching or detaching a volume. */
export type VolumeError = {
  /** When it happened. */
  time?: string | null;
  /** What went wrong, for people, at most 1024 bytes. It must not hold confidential data. */
  message?: string;
};
