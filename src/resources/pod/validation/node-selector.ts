import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { checkQualifiedName } from '../../../object/formats.ts';
import { mustBeName } from '../../rules/names.ts';

/** Nodes for which one of its terms holds. Volumes have one, too. */
export function validateNodeSelector(at: FieldPath, { nodeSelectorTerms }: NodeSelector): void {
  const terms = nodeSelectorTerms ?? [];
  const path = at.field('nodeSelectorTerms');
  if (terms.length === 0) path.required('must have at least one node selector term');
  for (const [item, term] of path.each(terms)) validateNodeSelectorTerm(item, term);
}

export function validateNodeSelectorTerm(
  at: FieldPath,
  { matchExpressions, matchFields }: NodeSelectorTerm,
): void {
  for (const [path, requirement] of at.field('matchExpressions').each(matchExpressions)) {
    const { key = '' } = requirement;
    validateValues(path, requirement);
    path.field('key').invalidFor(key, checkQualifiedName(key));
  }
  for (const [path, requirement] of at.field('matchFields').each(matchFields))
    validateField(path, requirement);
}

function validateValues(at: FieldPath, { operator = '', values = [] }: NodeSelectorRequirement): void {
  const path = at.field('values');
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) path.required("must be specified when `operator` is 'In' or 'NotIn'");
      return;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0)
        path.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      return;
    case 'Gt':
    case 'Lt':
      if (values.length !== 1)
        path.required("must be specified single value when `operator` is 'Lt' or 'Gt'");
      return;
    default:
      at.field('operator').invalid(operator, 'not a valid selector operator');
  }
}

/** Of the fields of a node only its name can be asked for, one at a time. */
function validateField(at: FieldPath, requirement: NodeSelectorRequirement): void {
  const { operator = '', key = '', values = [] } = requirement;
  if (operator !== 'In' && operator !== 'NotIn')
    at.field('operator').invalid(operator, 'not a valid selector operator');
  else if (values.length !== 1)
    at.field('values').required(
      "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
    );
  if (key !== 'metadata.name') {
    at.field('key').invalid(key, 'not a valid field selector key');
    return;
  }
  for (const [path, value] of at.field('values').each(values)) mustBeName(path, value, 'dns-subdomain');
}
