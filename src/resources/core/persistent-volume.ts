import type { ApiObject } from '../../api/object-meta.ts';
import { part } from '../../object/parts.ts';
import { column, define, nameColumn } from '../define.ts';
import { roundUpToMilli } from '../validation/quantity-values.ts';
import { validateVolume, validateVolumeUpdate, warnOfVolume } from './validate-persistent-volume.ts';
import { volumeCells } from './volume-cells.ts';

export const persistentvolumes = define({
  group: '',
  resource: 'persistentvolumes',
  kind: 'PersistentVolume',
  namespaced: false,
  shortNames: ['pv'],
  versions: [{ version: 'v1', type: 'core/v1.PersistentVolume' }],
  emptyStatus: { phase: 'Pending' },
  prepareStatus: keepPhaseTime,
  table: {
    columns: [
      nameColumn(),
      column('Capacity'),
      column('Access Modes'),
      column('Reclaim Policy'),
      column('Status'),
      column('Claim'),
      column('StorageClass'),
      column('VolumeAttributesClass'),
      column('Reason'),
      column('Age'),
      column('VolumeMode', 1),
    ],
    cells: volumeCells,
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
    defaults: (volume) => roundUpToMilli(part(volume, 'spec', 'capacity')),
    prepareForCreate: (volume) => {
      const since = volume.metadata.creationTimestamp ?? undefined;
      volume.status = {
        phase: 'Pending',
        ...(since === undefined ? {} : { lastPhaseTransitionTime: since }),
      };
    },
    validate: validateVolume,
    validateUpdate: validateVolumeUpdate,
    warnings: warnOfVolume,
  },
});

/** Since when the phase holds: as the writer says, or now when the phase changes and the writer does not say. */
function keepPhaseTime(volume: ApiObject, old: ApiObject): void {
  const before = part(old, 'status');
  const status = { ...part(volume, 'status') };
  const samePhase = status.phase === before.phase;
  const given = status.lastPhaseTransitionTime ?? undefined;
  const known = before.lastPhaseTransitionTime ?? undefined;
  if (samePhase && given === undefined) {
    if (known !== undefined) status.lastPhaseTransitionTime = known;
  } else if (!samePhase && (given === undefined || given === known)) {
    status.lastPhaseTransitionTime = `${new Date().toISOString().slice(0, 19)}Z`;
  }
  volume.status = status;
}
