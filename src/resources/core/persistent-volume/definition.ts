import type { PersistentVolume } from '../../../api/types/core/v1.ts';
import { define } from '../../define.ts';
import { checked, checkedUpdate } from '../../rules/checked.ts';
import { roundUpToMilli } from '../../rules/quantities.ts';
import { table } from './table.ts';
import { validate, validateUpdate } from './validate.ts';
import { warnings } from './warnings.ts';

export const persistentvolumes = define<PersistentVolume>({
  group: '',
  resource: 'persistentvolumes',
  kind: 'PersistentVolume',
  namespaced: false,
  protection: 'kubernetes.io/pv-protection',
  shortNames: ['pv'],
  versions: [{ version: 'v1', type: 'core/v1.PersistentVolume' }],
  emptyStatus: { phase: 'Pending' },
  prepareStatus: keepPhaseTime,
  table,
  strategy: {
    returnsDeletedObject: true,
    defaults: ({ spec }) => roundUpToMilli(spec?.capacity),
    prepareForCreate: (volume) => {
      const since = volume.metadata.creationTimestamp ?? undefined;
      volume.status = {
        phase: 'Pending',
        ...(since === undefined ? {} : { lastPhaseTransitionTime: since }),
      };
    },
    validate: checked(validate),
    validateUpdate: checkedUpdate(validateUpdate),
    warnings,
  },
});

/** The time since when the phase holds: the writer's, or now when the phase changes and the writer gives no time. */
function keepPhaseTime(volume: PersistentVolume, { status: old = {} }: PersistentVolume): void {
  const status = { ...volume.status };
  const { lastPhaseTransitionTime: given } = status;
  const { lastPhaseTransitionTime: known } = old;
  if (status.phase === old.phase) {
    if (given === undefined && known !== undefined) status.lastPhaseTransitionTime = known;
  } else if (given === undefined || given === known) {
    status.lastPhaseTransitionTime = `${new Date().toISOString().slice(0, 19)}Z`;
  }
  volume.status = status;
}
