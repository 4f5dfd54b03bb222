import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { count, part, parts } from '../../object/parts.ts';
import { age, containerCells } from '../cells.ts';
import { column, define, nameColumn, type Table } from '../define.ts';
import { defaultPodTemplate } from '../pod/pod-defaults.ts';
import { POD_RATCHETS } from '../pod/pod-ratchets.ts';
import { scaleOf } from '../scale.ts';
import { whenSpecChanged } from '../validation/spec-changed.ts';
import { templateWarnings } from '../workload/template-warnings.ts';
import {
  validateStatefulSet,
  validateStatefulSetStatus,
  validateStatefulSetUpdate,
} from './validate-stateful-set.ts';

const table: Table = {
  columns: [nameColumn(), column('Ready'), column('Age'), column('Containers', 1), column('Images', 1)],
  cells: (set, now) => {
    const spec = part(set, 'spec');
    return [
      set.metadata.name ?? '',
      `${count(part(set, 'status').readyReplicas)}/${count(spec.replicas)}`,
      age(set, now),
      ...containerCells(part(spec, 'template', 'spec')),
    ];
  },
};

export const statefulsets = define({
  group: 'apps',
  resource: 'statefulsets',
  kind: 'StatefulSet',
  namespaced: true,
  shortNames: ['sts'],
  categories: ['all'],
  versions: [{ version: 'v1', type: 'apps/v1.StatefulSet' }],
  emptyStatus: { replicas: 0, availableReplicas: 0 },
  validateStatus: validateStatefulSetStatus,
  subresources: [scaleOf()],
  table,
  ratchets: POD_RATCHETS,
  strategy: {
    // The name becomes part of host names, which know no dots.
    nameRule: 'dns-label',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    defaults: defaultStatefulSet,
    prepareForCreate: (set) => {
      set.status = { replicas: 0, availableReplicas: 0 };
    },
    validate: whenSpecChanged(validateStatefulSet),
    validateUpdate: validateStatefulSetUpdate,
    warnings: templateWarnings,
  },
});

function defaultStatefulSet(set: ApiObject): void {
  const spec = part(set, 'spec');
  defaultPodTemplate(spec);
  const update = part(spec, 'updateStrategy');
  if (update.type === undefined) {
    update.type = 'RollingUpdate';
    update.rollingUpdate ??= { partition: 0 };
  }
  spec.persistentVolumeClaimRetentionPolicy ??= { whenDeleted: 'Retain', whenScaled: 'Retain' };
  const claims = parts(spec, 'volumeClaimTemplates');
  if (claims.length > 0) spec.volumeClaimTemplates = claims.map(defaultClaim);
}

/** Clients compare templates with what they wrote, and Kubernetes has always added these three. */
function defaultClaim({ kind: _, apiVersion: __, ...claim }: JsonObject): JsonObject {
  const status = { ...part(claim, 'status') };
  status.phase ??= 'Pending';
  return { kind: 'PersistentVolumeClaim', apiVersion: 'v1', ...claim, status };
}
