// Written from src/api/idl/storage/v1alpha1.proto by the build. Change that file, not this one.

export type { CSIStorageCapacity, CSIStorageCapacityList, VolumeAttachment, VolumeAttachmentList, VolumeAttributesClass, VolumeAttributesClassList } from './v1beta1.ts';
