import type { Timeline } from '../../api/types/history/v1alpha1.ts';
import { column, define, nameColumn } from '../define.ts';
import { HISTORY_GROUP } from './revision.ts';

/** The changes of an object with its dependents, or of a namespace, by its name (history/timelines/timeline-store.ts). */
export const timelines = define<Timeline>({
  group: HISTORY_GROUP,
  resource: 'timelines',
  kind: 'Timeline',
  namespaced: false,
  verbs: ['get'],
  parameters: { get: { since: 'string', until: 'string', limit: 'integer', continue: 'string' } },
  versions: [{ version: 'v1alpha1', type: 'history/v1alpha1.Timeline' }],
  table: {
    columns: [nameColumn(), column('Entries', 0, 'integer'), column('From'), column('To')],
    cells: ({ metadata, entries }) => {
      const all = entries ?? [];
      return [metadata.name ?? '', all.length, all[0]?.at ?? '', all.at(-1)?.at ?? ''];
    },
  },
});
