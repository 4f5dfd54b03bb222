import type { JsonObject } from '../../api/object-meta.ts';
import { count, part } from '../../object/parts.ts';
import { age, containerCells } from '../cells.ts';
import { column, nameColumn, type Table } from '../define.ts';

/** What ReplicaSets and ReplicationControllers show alike; their selectors differ in form. */
export function replicaTable(selectorCell: (selector: JsonObject) => string): Table {
  return {
    columns: [
      nameColumn(),
      column('Desired', 0, 'integer'),
      column('Current', 0, 'integer'),
      column('Ready', 0, 'integer'),
      column('Age'),
      column('Containers', 1),
      column('Images', 1),
      column('Selector', 1),
    ],
    cells: (object, now) => {
      const spec = part(object, 'spec');
      const status = part(object, 'status');
      return [
        object.metadata.name ?? '',
        count(spec.replicas),
        count(status.replicas),
        count(status.readyReplicas),
        age(object, now),
        ...containerCells(part(spec, 'template', 'spec')),
        selectorCell(part(spec, 'selector')),
      ];
    },
  };
}
