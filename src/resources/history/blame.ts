import type { Blame } from '../../api/types/history/v1alpha1.ts';
import { column, define, nameColumn } from '../define.ts';
import { HISTORY_GROUP } from './revision.ts';

/** Who set each field of an object, by its name (history/blame/blame-store.ts). */
export const blames = define<Blame>({
  group: HISTORY_GROUP,
  resource: 'blames',
  singular: 'blame',
  kind: 'Blame',
  namespaced: false,
  verbs: ['get'],
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
