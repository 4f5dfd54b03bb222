import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { part } from '../../object/parts.ts';
import { selectorText } from '../cells.ts';
import { define } from '../define.ts';
import { defaultPodTemplate } from '../pod/pod-defaults.ts';
import { POD_RATCHETS } from '../pod/pod-ratchets.ts';
import { scaleOf } from '../scale.ts';
import { validateImmutableSelector } from '../validation/immutable.ts';
import { validateCounts } from '../validation/numbers.ts';
import { whenSpecChanged } from '../validation/spec-changed.ts';
import { replicaTable } from '../workload/replica-table.ts';
import { validateReplicaTemplate } from '../workload/selected-template.ts';
import { nameAndTemplateWarnings } from '../workload/template-warnings.ts';
import { validateReplicaStatus } from '../workload/validate-status.ts';

export const replicasets = define({
  group: 'apps',
  resource: 'replicasets',
  kind: 'ReplicaSet',
  namespaced: true,
  shortNames: ['rs'],
  categories: ['all'],
  versions: [{ version: 'v1', type: 'apps/v1.ReplicaSet' }],
  emptyStatus: { replicas: 0 },
  validateStatus: validateReplicaStatus,
  subresources: [scaleOf()],
  table: replicaTable(selectorText),
  ratchets: POD_RATCHETS,
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    defaults: (set) => defaultPodTemplate(part(set, 'spec')),
    validate: whenSpecChanged(validateReplicaSet),
    validateUpdate: (set, old) => validateImmutableSelector(part(set, 'spec'), part(old, 'spec')),
    warnings: nameAndTemplateWarnings,
  },
});

function validateReplicaSet(set: ApiObject): FieldError[] {
  const spec = part(set, 'spec');
  return [...validateCounts(spec, ['replicas', 'minReadySeconds'], 'spec'), ...validateReplicaTemplate(spec)];
}
