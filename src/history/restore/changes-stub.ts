import type { ApiObject } from '../../api/object-meta.ts';
import type { Change } from '../../api/types/history/v1alpha1.ts';
import { equal } from '../../object/equality.ts';
export const changesBetween = (a: ApiObject, b: ApiObject): Change[] =>
  [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) => {
    const strip = (o: ApiObject) =>
      key === 'metadata'
        ? {
            labels: o.metadata.labels,
            annotations: o.metadata.annotations,
            ownerReferences: o.metadata.ownerReferences,
            finalizers: o.metadata.finalizers,
          }
        : o[key];
    return equal(strip(a), strip(b)) ? [] : [{ path: key }];
  });
