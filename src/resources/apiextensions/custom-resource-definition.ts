import type { Gates } from '../../api/feature-gates.ts';
import { CUSTOM_RESOURCE_CLEANUP } from '../../api/finalizers.ts';
import type { FieldError } from '../../api/status.ts';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionStatus,
} from '../../api/types/apiextensions/v1.ts';
import { type Finding, withCondition } from '../../object/conditions.ts';
import { copyJson } from '../../object/equality.ts';
import { FieldPath } from '../../object/field-path.ts';
import { atOnce, type Steps } from '../../util/turns.ts';
import { define } from '../define.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { formatWarnings } from './schema/format-warnings.ts';
import { validateRules } from './validation/compile-rules.ts';
import { validateInSteps, validateUpdate } from './validation/validate-definition.ts';

const EMPTY_STATUS: CustomResourceDefinitionStatus = {
  conditions: null,
  acceptedNames: { plural: '', kind: '' },
  storedVersions: null,
};

export const customresourcedefinitions = define<CustomResourceDefinition>({
  group: 'apiextensions.k8s.io',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  versions: [{ version: 'v1', type: 'apiextensions/v1.CustomResourceDefinition' }],
  emptyStatus: EMPTY_STATUS,
  statusResets: [['spec'], ['metadata']],
  prepareStatus: (definition) => {
    const { status = {} } = definition;
    if ((status.storedVersions ?? []).length === 0)
      definition.status = withStorageVersion(status, definition);
  },
  strategy: {
    finalizersNeedDomains: false,
    tracksGeneration: true,
    allowUnconditionalUpdate: false,
    defaults: setDefaults,
    prepareForCreate: (definition) => {
      definition.status = withStorageVersion(copyJson(EMPTY_STATUS), definition);
    },
    prepareForUpdate: (definition) => {
      definition.status = withStorageVersion(definition.status ?? {}, definition);
    },
    beginDeletion,
    warnings: formatWarnings,
    // Most of a definition has two paths, and only its rules know which one messages take.
    judgesAlone: () => ['spec'],
    validate: checked((at, definition, old) => atOnce(validateInSteps(at, definition, old))),
    validateUpdate: checkedUpdate(validateUpdate),
    validateInSteps: validateWithRules,
  },
});

function* validateWithRules(
  definition: CustomResourceDefinition,
  old?: CustomResourceDefinition,
  isOn?: Gates,
): Steps<FieldError[]> {
  const found: FieldError[] = [];
  const at = FieldPath.root(found, isOn);
  yield* validateInSteps(at, definition, old);
  if (found.length === 0) yield* validateRules(at, definition, old);
  return found;
}

const DELETION_PENDING: Finding = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionPending',
  message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
};

function beginDeletion(definition: CustomResourceDefinition, time: string): void {
  const { metadata, status = {} } = definition;
  const { finalizers = [] } = metadata;
  metadata.deletionTimestamp = time;
  if (!finalizers.includes(CUSTOM_RESOURCE_CLEANUP))
    metadata.finalizers = [...finalizers, CUSTOM_RESOURCE_CLEANUP];
  const conditions = withCondition(status.conditions ?? [], DELETION_PENDING, time);
  definition.status = { ...status, conditions: [...conditions] };
}

function setDefaults({ spec = {} }: CustomResourceDefinition): void {
  const { names = {} } = spec;
  const { kind = '', singular = '', listKind = '' } = names;
  if (singular === '') names.singular = kind.toLowerCase();
  if (listKind === '' && kind !== '') names.listKind = `${kind}List`;
}

/** A version that objects are stored in from now on stays one of those that they may be stored in. */
function withStorageVersion(
  status: CustomResourceDefinitionStatus,
  { spec }: CustomResourceDefinition,
): CustomResourceDefinitionStatus {
  const stored = status.storedVersions ?? [];
  const name = spec?.versions?.find(({ storage }) => storage === true)?.name ?? '';
  return name === '' || stored.includes(name) ? status : { ...status, storedVersions: [...stored, name] };
}
