import type { ControllerRevision } from '../../api/types/apps/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { age, NONE } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked } from '../rules/checked.ts';
import { mustBeNonNegative } from '../rules/numbers.ts';

export const controllerrevisions = define<ControllerRevision>({
  group: 'apps',
  resource: 'controllerrevisions',
  kind: 'ControllerRevision',
  namespaced: true,
  versions: [{ version: 'v1', type: 'apps/v1.ControllerRevision' }],
  table: {
    columns: [nameColumn(), column('Controller'), column('Revision'), column('Age')],
    cells: (revision, now) => [
      revision.metadata.name ?? '',
      controllerCell(revision),
      revision.revision ?? 0,
      age(revision, now),
    ],
  },
  strategy: {
    validate: checked(validate),
    // A rollback must restore the original data. The number may rise when the revision becomes the newest again.
  },
});

/** `statefulset.apps/web` */
function controllerCell({ metadata }: ControllerRevision): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return NONE;
  const { apiVersion = '', kind = '', name = '' } = owner;
  const [group] = apiVersion.includes('/') ? apiVersion.split('/') : [''];
  return `${kind}${group === '' ? '' : `.${group}`}/`.toLowerCase() + name;
}

function validate(at: FieldPath, { data, revision }: ControllerRevision): void {
  mustBeNonNegative(at.field('revision'), revision);
  if (data === undefined || data === null) at.field('data').required('data is mandatory');
  else if (typeof data !== 'object' || Array.isArray(data))
    at.field('data').required('data must be a valid JSON object');
}
