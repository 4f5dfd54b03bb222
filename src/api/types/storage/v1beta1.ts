// Written from src/api/idl/storage/v1beta1.proto by the build. Change that file, not this one.

export type { CSIDriver, CSIDriverList, CSINode, CSINodeList, CSIStorageCapacity, CSIStorageCapacityList, StorageClass, StorageClassList, VolumeAttachment, VolumeAttachmentList, VolumeAttributesClass, VolumeAttributesClassList } from './v1.ts';
