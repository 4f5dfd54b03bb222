// Written from src/api/idl/storage/v1.proto by the build. Change that file, not this one.

import type { PersistentVolumeSpec, TopologySelectorTerm } from '../core/v1.ts';
import type { LabelSelector, ListMeta, ObjectMeta } from '../meta/v1.ts';

/** What Kubernetes must know about a CSI driver. Its name is the name of the driver. */
export type CSIDriver = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** What the driver needs and can do. */
  spec?: CSIDriverSpec;
};

/** A list of CSI drivers. */
export type CSIDriverList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The CSIDrivers of this page. */
  items?: CSIDriver[] | null;
};

/** What a CSI driver needs and can do. */
export type CSIDriverSpec = {
  /** Volumes must be attached to a node before they can be mounted. True unless set; cannot be changed. */
  attachRequired?: boolean;
  /** The driver is told name, namespace, UID and service account of the pod when it mounts a volume. False unless set. */
  podInfoOnMount?: boolean;
  /** What the driver serves: Persistent for persistent volumes, Ephemeral for volumes written in the pod. Persistent unless set; cannot be changed. */
  volumeLifecycleModes?: string[];
  /** The scheduler takes only nodes where the driver has reported enough free storage. False unless set. */
  storageCapacity?: boolean;
  /** Whether owner and mode of files are changed for the pod's fsGroup: File always, None never, ReadWriteOnceWithFSType only for ReadWriteOnce volumes with a file system. The last unless set. */
  fsGroupPolicy?: string;
  /** Tokens of the pod's service account that the driver gets when it mounts a volume. None unless set. */
  tokenRequests?: TokenRequest[];
  /** The driver is asked again and again to mount a volume that is mounted already, so that it can renew its content. False unless set. */
  requiresRepublish?: boolean;
  /** Volumes can be mounted with an SELinux label, which saves relabelling every file. False unless set. Used for ReadWriteOncePod volumes. */
  seLinuxMount?: boolean;
  /** Seconds after which a node asks the driver anew how many volumes it can attach; 10 at least. Never unless set. Needs the feature gate MutableCSINodeAllocatableCount. */
  nodeAllocatableUpdatePeriodSeconds?: number | bigint;
  /** Give tokens of service accounts to the driver among the secrets, not in the context of the volume. Only with tokenRequests. False unless set. Needs the feature gate CSIServiceAccountTokenSecrets. */
  serviceAccountTokenInSecrets?: boolean;
  /** Place no pod that uses the driver on a node without it. False unless set. Needs the feature gate VolumeLimitScaling. */
  preventPodSchedulingIfMissing?: boolean;
};

/** The CSI drivers of a node. Written by the node agent, under the name of the node. */
export type CSINode = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** The drivers that run on the node. */
  spec?: CSINodeSpec;
};

/** A CSI driver that runs on a node. */
export type CSINodeDriver = {
  /** Name of the driver. */
  name?: string;
  /** Name of the node in the storage system, as the driver gives it. */
  nodeID?: string;
  /** Labels of the node that say from where its storage can be reached. None if the driver reports none. */
  topologyKeys?: string[] | null;
  /** How many volumes of the driver the node can take. No limit unless set. */
  allocatable?: VolumeNodeResources;
};

/** A list of CSI nodes. */
export type CSINodeList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The CSINodes of this page. */
  items?: CSINode[] | null;
};

/** The CSI drivers of a node. */
export type CSINodeSpec = {
  /** The drivers. Empty if none runs there. */
  drivers?: CSINodeDriver[] | null;
};

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
  /** The CSIStorageCapacities of this page. */
  items?: CSIStorageCapacity[] | null;
};

/** A kind of storage, and who provides it. */
export type StorageClass = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Name of the driver that makes the volumes. Cannot be changed. */
  provisioner?: string;
  /** Settings for the driver, at most 512 and 256 KiB in all. Their meaning is up to it. Cannot be changed. */
  parameters?: { [key: string]: string };
  /** What happens to a volume of the class when its claim is gone: Delete deletes it with its data, Retain keeps it. Delete unless set; cannot be changed. */
  reclaimPolicy?: string;
  /** Options for mounting, such as ro or soft. Not checked; a wrong one makes mounting fail. */
  mountOptions?: string[];
  /** Claims of the class may grow. They may not unless set. */
  allowVolumeExpansion?: boolean;
  /** Immediate makes the volume at once, WaitForFirstConsumer when a pod that uses it is placed, so that it can be reached from there. Immediate unless set; cannot be changed. */
  volumeBindingMode?: string;
  /** Places where volumes may be made, by labels of nodes. Anywhere unless set. */
  allowedTopologies?: TopologySelectorTerm[];
};

/** A list of storage classes. */
export type StorageClassList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The StorageClasses of this page. */
  items?: StorageClass[] | null;
};

/** A token of the pod's service account that a driver wants. */
export type TokenRequest = {
  /** For whom the token is meant. The API server if empty. Each audience can appear once. */
  audience?: string;
  /** Seconds the token is valid, at least 600. 3600 unless set. */
  expirationSeconds?: number | bigint;
};

/** Asks that a volume be attached to a node. It stays for as long as the volume is to be attached. */
export type VolumeAttachment = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Which volume to attach to which node. */
  spec?: VolumeAttachmentSpec;
  /** How far it has come. Written by the attacher of the volume. */
  status?: VolumeAttachmentStatus;
};

/** A list of volume attachments. */
export type VolumeAttachmentList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The VolumeAttachments of this page. */
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

/** How far attaching or detaching has come. Written by the attacher. */
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

/** An error in attaching or detaching a volume. */
export type VolumeError = {
  /** When it happened. */
  time?: string | null;
  /** What went wrong, for people, at most 1024 bytes. It must not hold confidential data. */
  message?: string;
  /** The gRPC code of the error. Needs the feature gate MutableCSINodeAllocatableCount. */
  errorCode?: number;
};

/** How many volumes a node can take. */
export type VolumeNodeResources = {
  /** How many different volumes of the driver can be attached at the same time. No limit unless set; 0 allows none. */
  count?: number;
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
  /** The VolumeAttributesClasses of this page. */
  items?: VolumeAttributesClass[] | null;
};
