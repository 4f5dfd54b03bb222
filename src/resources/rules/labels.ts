import type { LabelSelector, LabelSelectorRequirement } from '../../api/types/meta/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkLabelValue, checkQualifiedName } from '../../object/text-formats.ts';

type Labels = Readonly<Record<string, string>>;

/** Keys and values of labels; an error names the map, not the entry. */
export function mustBeLabels(at: FieldPath, labels: Labels | undefined): void {
  for (const [key, value] of Object.entries(labels ?? {})) {
    at.invalidFor(key, checkQualifiedName(key));
    at.invalidFor(value, checkLabelValue(value));
  }
}

/** At any path (apimachinery, apis/meta/v1/validation). An absent selector is valid. */
export function mustBeLabelSelector(at: FieldPath, selector: LabelSelector | undefined): void {
  if (selector === undefined) return;
  mustBeLabels(at.field('matchLabels'), selector.matchLabels);
  for (const [requirement, rule] of at.field('matchExpressions').each(selector.matchExpressions)) {
    mustHaveOperator(requirement, rule);
    const { key = '' } = rule;
    requirement.field('key').invalidFor(key, checkQualifiedName(key));
    for (const [item, value] of requirement.field('values').each(rule.values))
      item.invalidFor(value, checkLabelValue(value));
  }
}

function mustHaveOperator(at: FieldPath, { operator = '', values = [] }: LabelSelectorRequirement): void {
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0)
        at.field('values').required("must be specified when `operator` is 'In' or 'NotIn'");
      return;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0)
        at.field('values').forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      return;
    default:
      at.field('operator').invalid(operator, 'not a valid selector operator');
  }
}
