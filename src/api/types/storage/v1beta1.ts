// Written from src/api/idl/storage/v1beta1.proto by the build. Change that file, not this one.

import type { ListMeta, ObjectMeta } from '../meta/v1.ts';

export type { CSIDriver, CSIDriverList, CSINode, CSINodeList, CSIStorageCapacity, CSIStorageCapacityList, StorageClass, StorageClassList, VolumeAttachment, VolumeAttachmentList } from './v1.ts';

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
