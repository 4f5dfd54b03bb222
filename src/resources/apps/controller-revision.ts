import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { invalidValue, required } from '../../object/field-errors.ts';
import { age, NONE } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { isNumber, validateNonNegative } from '../validation/values.ts';

export const controllerrevisions = define({
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
      isNumber(revision.revision) ? revision.revision : 0,
      age(revision, now),
    ],
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    validate: validateRevision,
    validateUpdate: validateRevisionUpdate,
  },
});

/** `statefulset.apps/web` */
function controllerCell({ metadata }: ApiObject): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return NONE;
  const { apiVersion = '', kind = '', name = '' } = owner;
  const [group] = apiVersion.includes('/') ? apiVersion.split('/') : [''];
  return `${kind}${group === '' ? '' : `.${group}`}/`.toLowerCase() + name;
}

function validateRevision(revision: ApiObject): FieldError[] {
  const { data } = revision;
  const errors = validateNonNegative('revision', revision.revision);
  if (data === undefined || data === null) errors.push(required('data', 'data is mandatory'));
  else if (typeof data !== 'object' || Array.isArray(data))
    errors.push(required('data', 'data must be a valid JSON object'));
  return errors;
}

/** Going back to a revision must give what it was. Its number may rise when it becomes the newest again. */
function validateRevisionUpdate({ data }: ApiObject, old: ApiObject): FieldError[] {
  return equal(data, old.data) ? [] : [invalidValue('data', data, 'field is immutable')];
}
