import type { PersistentVolumeClaim } from '../../api/types/core/v1.ts';

/** Where the class of a claim stood before it had a field. */
export const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

/** Empty: none. */
export const storageClassOf = ({ metadata, spec }: PersistentVolumeClaim): string =>
  metadata.annotations?.[CLASS_ANNOTATION] ?? spec?.storageClassName ?? '';
