import type { ReplicaSet } from '../../api/types/apps/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { selectorText } from '../cells.ts';
import { define } from '../define.ts';
import { defaultPodTemplate } from '../pod/defaults.ts';
import { POD_RATCHETS } from '../pod/validation/pod.ts';
import { checked, checkedUpdate, whenSpecChanged } from '../rules/checked.ts';
import { mustKeepSelector } from '../rules/immutable.ts';
import { mustAllBeNonNegative } from '../rules/numbers.ts';
import { scaleOf } from '../scale.ts';
import { replicaTable, validateReplicaStatus } from '../workload/replicas.ts';
import { mustMakeReplicas, nameAndTemplateWarnings, SPEC_TEMPLATE } from '../workload/workload-template.ts';

export const replicasets = define<ReplicaSet>({
  group: 'apps',
  resource: 'replicasets',
  kind: 'ReplicaSet',
  namespaced: true,
  shortNames: ['rs'],
  categories: ['all'],
  versions: [{ version: 'v1', type: 'apps/v1.ReplicaSet' }],
  emptyStatus: { replicas: 0 },
  validateStatus: checkedUpdate(validateReplicaStatus),
  subresources: [scaleOf()],
  table: replicaTable(({ spec }) => selectorText(spec?.selector ?? {})),
  podTemplate: SPEC_TEMPLATE,
  ratchets: POD_RATCHETS,
  strategy: {
    tracksGeneration: true,
    defaults: ({ spec = {} }) => defaultPodTemplate(spec),
    validate: checked(whenSpecChanged(validate)),
    validateUpdate: checkedUpdate((at, { spec = {} }, old) =>
      mustKeepSelector(at.field('spec'), spec, old.spec ?? {}),
    ),
    warnings: nameAndTemplateWarnings,
  },
});

function validate(root: FieldPath, { spec = {} }: ReplicaSet): void {
  const at = root.field('spec');
  mustAllBeNonNegative(at, spec, ['replicas', 'minReadySeconds']);
  mustMakeReplicas(at, spec);
}
