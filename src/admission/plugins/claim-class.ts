import type { ApiObject } from '../../api/object-meta.ts';
import { part, text } from '../../object/parts.ts';

/** Where the class of a claim stood before it had a field. */
export const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

/** Empty: none. */
export const storageClassOf = (claim: ApiObject): string =>
  claim.metadata.annotations?.[CLASS_ANNOTATION] ?? text(part(claim, 'spec').storageClassName);
