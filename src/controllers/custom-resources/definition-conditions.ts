import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionStatus,
} from '../../api/types/apiextensions/v1.ts';
import { approvalOf, isProtectedGroup } from '../../object/api-approval.ts';
import { type Condition, type Finding, withCondition } from '../../object/conditions.ts';
import { equal } from '../../object/equality.ts';
import { bundleProblem } from '../../x509/authority-bundle.ts';
import { type NameDecision, sameNames } from './definition-names.ts';

/** Conditions in the status of a definition (Kubernetes: apiextensions-apiserver, pkg/controller). */

/** All findings about a definition. The conditions of undefined ones are removed. */
export interface Findings {
  readonly names: NameDecision;
  /** Violations in schemas, which only definitions older than v1 can have; '' for none. */
  readonly violations: string;
}

/** Returns the status with the findings; the same status when it has them all. */
export function withFindings(
  definition: CustomResourceDefinition,
  { names, violations }: Findings,
  time: string,
): CustomResourceDefinitionStatus {
  const { status = {} } = definition;
  const before = status.conditions ?? [];
  const accepted = acceptance(names);
  const found = [accepted, establishment(definition, accepted), approvalFinding(definition)];
  if (violations !== '') found.push(nonStructural(violations));
  let conditions: readonly Condition[] =
    violations === '' ? before.filter(({ type }) => type !== NON_STRUCTURAL) : before;
  for (const finding of found)
    if (finding !== undefined) conditions = withCondition(conditions, finding, time);
  const isNamed = sameNames(status.acceptedNames ?? {}, names.accepted);
  const isStored = (status.storedVersions ?? []).length > 0;
  if (isNamed && isStored && equal(conditions, before)) return status;
  return {
    ...status,
    conditions: [...conditions],
    acceptedNames: names.accepted,
    storedVersions: isStored ? (status.storedVersions ?? null) : storageVersions(definition),
  };
}

/** The storage version, for a definition without storedVersions. */
const storageVersions = ({ spec }: CustomResourceDefinition): string[] =>
  (spec?.versions ?? []).filter(({ storage }) => storage === true).map(({ name = '' }) => name);

export const conditionOf = (
  { status }: CustomResourceDefinition,
  type: string,
): CustomResourceDefinitionCondition | undefined =>
  status?.conditions?.find((condition) => condition.type === type);

export const isConditionTrue = (definition: CustomResourceDefinition, type: string): boolean =>
  conditionOf(definition, type)?.status === 'True';

function acceptance({ conflict }: NameDecision): Finding {
  const type = 'NamesAccepted';
  return conflict === undefined
    ? { type, status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
    : { type, status: 'False', ...conflict };
}

/** Undefined: the condition stays as it is. An established resource remains established. */
function establishment(definition: CustomResourceDefinition, names: Finding): Finding | undefined {
  const type = 'Established';
  const before = conditionOf(definition, type);
  if (before?.status === 'True') return undefined;
  if (names.status !== 'True')
    return before === undefined
      ? { type, status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' }
      : undefined;
  const bundle = definition.spec?.conversion?.webhook?.clientConfig?.caBundle ?? '';
  return bundleProblem(bundle) === undefined
    ? {
        type,
        status: 'True',
        reason: 'InitialNamesAccepted',
        message: 'the initial names have been accepted',
      }
    : {
        type,
        status: 'False',
        reason: 'InvalidCABundle',
        message: 'The conversion webhook CABundle is invalid',
      };
}

const NON_STRUCTURAL = 'NonStructuralSchema';

const nonStructural = (message: string): Finding => ({
  type: NON_STRUCTURAL,
  status: 'True',
  reason: 'Violations',
  message,
});

/** Only groups of the Kubernetes community have to be approved. */
function approvalFinding({ spec, metadata }: CustomResourceDefinition): Finding | undefined {
  if (!isProtectedGroup(spec?.group ?? '')) return undefined;
  const { state, message } = approvalOf(metadata.annotations);
  return {
    type: 'KubernetesAPIApprovalPolicyConformant',
    status: state === 'Approved' ? 'True' : 'False',
    reason: `${state}Annotation`,
    message,
  };
}
