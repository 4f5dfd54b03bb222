import type { Blame, Restore, Timeline } from '../../api/types/history/v1alpha1.ts';
import { column, define, nameColumn } from '../define.ts';
import { HISTORY_GROUP } from './revision.ts';

/** Resources computed for an object or a namespace, by its name (history/timelines.ts, history/blames.ts). */
const told = { group: HISTORY_GROUP, namespaced: false, verbs: ['get'] } as const;

export const timelines = define<Timeline>({
  ...told,
  resource: 'timelines',
  kind: 'Timeline',
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

export const blames = define<Blame>({
  ...told,
  resource: 'blames',
  singular: 'blame',
  kind: 'Blame',
  parameters: { get: { asOf: 'string' } },
  versions: [{ version: 'v1alpha1', type: 'history/v1alpha1.Blame' }],
  table: {
    columns: [nameColumn(), column('Revision'), column('Fields', 0, 'integer'), column('Users')],
    cells: ({ metadata, revision = '', fields }) => {
      const users = new Set((fields ?? []).flatMap(({ user }) => (user === undefined ? [] : [user])));
      return [metadata.name ?? '', revision, (fields ?? []).length, [...users].join(',')];
    },
  },
});

export const restores = define<Restore>({
  ...told,
  resource: 'restores',
  kind: 'Restore',
  verbs: ['create'],
  versions: [{ version: 'v1alpha1', type: 'history/v1alpha1.Restore' }],
});
