import { toQualifiedResource } from '../../api/names.ts';
import type { ObjectKey } from '../../storage/key.ts';

/** `deployments.apps shop/web` */
export const describe = (key: ObjectKey): string =>
  `${toQualifiedResource(key)} ${key.namespace === '' ? '' : `${key.namespace}/`}${key.name}`;
