import { toQualifiedResource } from '../../api/names.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import type { Change, Explanation, RecordedObject, Revision } from '../../api/types/history/v1alpha1.ts';
import { copyJson } from '../../object/equality.ts';
import type { ViewSubresource } from '../../registry/resource-definition.ts';
import { age } from '../cells.ts';
import { column, define } from '../define.ts';

/** Rows of the log, computed for each request and never stored (history/revisions/revision-store.ts). */
export const HISTORY_GROUP = 'history.cluster.io';
const VERSION = 'v1alpha1';

/** The causes of a revision: the store of the view computes them, so that this view converts nothing. */
const why: ViewSubresource = {
  access: 'view',
  name: 'why',
  served: { group: HISTORY_GROUP, version: VERSION, kind: 'Explanation' },
  type: 'history/v1alpha1.Explanation',
  verbs: ['get'],
  table: {
    columns: [
      column('Revision'),
      column('Age'),
      column('Root'),
      column('User'),
      column('Manager', 1),
      column('Verb'),
      column('Object'),
      column('Namespace'),
      column('Unknown', 1),
    ],
    cells: (explanation: Explanation & ApiObject, now) => {
      const { metadata, root = '', links, unknown = '' } = explanation;
      const { user = '', manager = '', verb = '', object = {} } = links?.at(-1) ?? {};
      return [
        metadata.name ?? '',
        age(explanation, now),
        ...[root, user, manager, verb],
        objectText(object),
        object.namespace ?? '',
        unknown,
      ];
    },
  },
  read: (explanation) => explanation,
  write: (_, revision) => copyJson(revision),
};

export const revisions = define<Revision>({
  group: HISTORY_GROUP,
  resource: 'revisions',
  kind: 'Revision',
  namespaced: false,
  shortNames: ['rev'],
  verbs: ['get', 'list', 'watch'],
  versions: [{ version: VERSION, type: 'history/v1alpha1.Revision' }],
  subresources: [why],
  parameters: { list: { since: 'string', until: 'string' } },
  table: {
    columns: [
      column('Revision'),
      column('Age'),
      column('User'),
      column('Manager', 1),
      column('Verb'),
      column('Object'),
      column('Namespace'),
      column('Changed'),
    ],
    cells: (revision, now) => {
      const { metadata, user = '', manager = '', verb = '', object = {} } = revision;
      return [
        metadata.name ?? '',
        age(revision, now),
        ...[user, manager, verb],
        objectText(object),
        object.namespace ?? '',
        changedText(revision),
      ];
    },
  },
  fields: {
    paths: {
      'object.resource': ['object.resource'],
      'object.namespace': ['object.namespace'],
      'object.name': ['object.name'],
      'object.uid': ['object.uid'],
      user: ['user'],
      manager: ['manager'],
      verb: ['verb'],
      requestID: ['requestID'],
    },
  },
  strategy: { allowUnconditionalUpdate: false },
});

/** `deployments.apps/web` */
function objectText({ group = '', resource = '', name = '' }: RecordedObject): string {
  return `${toQualifiedResource({ group, resource })}/${name}`;
}

const SHOWN_PATHS = 3;

/** The first paths, or the change of the whole object. */
function changedText({ changes, changesUnknown, changesTruncated }: Revision): string {
  if (changesUnknown === true) return '<unknown>';
  const paths = (changes ?? []).map(pathText);
  const more = paths.length - SHOWN_PATHS;
  if (more <= 0) return paths.join(',');
  const count = changesTruncated === true ? `${more}+` : `${more}`;
  return `${paths.slice(0, SHOWN_PATHS).join(',')} + ${count} more...`;
}

const pathText = ({ path = '', old }: Change): string =>
  path !== '' ? path : old === undefined ? '<created>' : '<deleted>';
