import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { copyJson } from '../../object/copy.ts';
import { part, parts, text } from '../../object/parts.ts';
import { define } from '../define.ts';
import { strings } from '../validation/values.ts';
import { validateDefinition, validateDefinitionUpdate } from './validate-definition.ts';

const EMPTY_STATUS: JsonObject = {
  conditions: null,
  acceptedNames: { plural: '', kind: '' },
  storedVersions: null,
};

export const customresourcedefinitions = define({
  group: 'apiextensions.k8s.io',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  versions: [{ version: 'v1', type: 'apiextensions/v1.CustomResourceDefinition' }],
  emptyStatus: EMPTY_STATUS,
  statusResets: [['spec'], ['metadata']],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    defaults: defaultDefinition,
    prepareForCreate: (definition) => {
      definition.status = withStorageVersion(copyJson(EMPTY_STATUS), definition);
    },
    prepareForUpdate: (definition) => {
      definition.status = withStorageVersion(part(definition, 'status'), definition);
    },
    validate: validateDefinition,
    validateUpdate: validateDefinitionUpdate,
  },
});

function defaultDefinition(definition: ApiObject): void {
  const spec = part(definition, 'spec');
  const names = part(spec, 'names');
  const kind = text(names.kind);
  if (text(names.singular) === '') names.singular = kind.toLowerCase();
  if (text(names.listKind) === '' && kind !== '') names.listKind = `${kind}List`;
  spec.conversion ??= { strategy: 'None' };
}

/** A version that objects are stored in from now on, and stays one of those they may be stored in. */
function withStorageVersion(status: JsonObject, definition: ApiObject): JsonObject {
  const stored = strings(status, 'storedVersions');
  const storage = parts(part(definition, 'spec'), 'versions').find((version) => version.storage === true);
  const name = text(storage?.name);
  return name === '' || stored.includes(name) ? status : { ...status, storedVersions: [...stored, name] };
}
