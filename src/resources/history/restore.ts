import type { Restore } from '../../api/types/history/v1alpha1.ts';
import { define } from '../define.ts';
import { HISTORY_GROUP } from './revision.ts';

/** A posted order to restore a past state; it is carried out and never stored (history/restore/restores.ts). */
export const restores = define<Restore>({
  group: HISTORY_GROUP,
  resource: 'restores',
  kind: 'Restore',
  namespaced: false,
  verbs: ['create'],
  versions: [{ version: 'v1alpha1', type: 'history/v1alpha1.Restore' }],
});
