import { define } from '../define.ts';

/** Asks that objects be what they were: a create is done at once, and nothing is stored. */
export const restores = define({
  group: 'history.cluster.io',
  resource: 'restores',
  kind: 'Restore',
  namespaced: false,
  verbs: ['create'],
  versions: [{ version: 'v1alpha1', type: 'history/v1alpha1.Restore' }],
});
