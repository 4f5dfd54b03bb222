import type { ApiObject } from '../api/object-meta.ts';
import { numberOf, objectAt } from '../object/json-values.ts';
import { statedBy } from '../object/metadata.ts';
import type { ColumnSet, ViewSubresource } from '../registry/resource-definition.ts';
import { age, formatLabelSelector } from './cells.ts';
import { column, nameColumn } from './define.ts';

/**
 * The Scale view of all workloads with replicas: wanted and present ones, and the pod selector. Only the parent restricts their
 * number, and is validated after every write of its scale.
 */
export function scaleOf(): ViewSubresource {
  return {
    access: 'view',
    name: 'scale',
    served: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    type: 'autoscaling/v1.Scale',
    verbs: ['get', 'patch', 'update'],
    table: TABLE,
    warnings: 'parent',
    read: toScale,
    write: (scale, old) => ({
      ...old,
      metadata: { ...old.metadata, ...statedBy(scale.metadata) },
      spec: { ...objectAt(old, 'spec'), replicas: numberOf(objectAt(scale, 'spec').replicas) },
    }),
    toParent: (config) => {
      const { replicas } = objectAt(config, 'spec');
      return replicas === undefined ? {} : { spec: { replicas } };
    },
  };
}

const TABLE: ColumnSet = {
  columns: [nameColumn(), column('Desired', 0, 'integer'), column('Available', 0, 'integer'), column('Age')],
  cells: (scale, now) => [
    scale.metadata.name ?? '',
    numberOf(objectAt(scale, 'spec').replicas),
    numberOf(objectAt(scale, 'status').replicas),
    age(scale, now),
  ],
};

function toScale(parent: ApiObject): ApiObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = parent.metadata;
  const selector = objectAt(parent, 'spec', 'selector');
  // A replication controller's selector is the labels themselves.
  const isObject = selector.matchLabels !== undefined || selector.matchExpressions !== undefined;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      creationTimestamp: creationTimestamp ?? null,
    },
    spec: { replicas: numberOf(objectAt(parent, 'spec').replicas) },
    status: {
      replicas: numberOf(objectAt(parent, 'status').replicas),
      selector: formatLabelSelector(isObject ? selector : { matchLabels: selector }),
    },
  };
}
