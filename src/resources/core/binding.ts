import type { Binding } from '../../api/types/core/v1.ts';
import { define } from '../define.ts';

/** The old way to place a pod: posted to the namespace, with the pod's name inside. */
export const bindings = define<Binding>({
  group: '',
  resource: 'bindings',
  kind: 'Binding',
  namespaced: true,
  verbs: ['create'],
  versions: [{ version: 'v1', type: 'core/v1.Binding' }],
  actsOn: { resource: { group: '', resource: 'pods' }, subresource: 'binding' },
  strategy: {
    allowUnconditionalUpdate: false,
  },
});
