import type { JsonObject } from '../api/object-meta.ts';
import type { FieldSelectorAttributes, LabelSelectorAttributes } from '../api/types/authorization/v1.ts';
import type { FieldSelectorRequirement, LabelSelectorRequirement } from '../api/types/meta/v1.ts';
import type { FieldPath } from '../object/field-path.ts';
import {
  type FieldRequirement,
  type LabelRequirement,
  parseFieldSelector,
  parseLabelSelector,
} from '../object/selectors.ts';
import { checkLabelValue, checkQualifiedName } from '../object/text-formats.ts';
import type { AuthenticatedRequest } from '../request/api-request.ts';
import type { AskedSelectors, AuthorizationAttributes } from './authorizer.ts';

/**
 * Questions about some objects of a resource (the feature AuthorizeWithSelectors): requirements narrow a question. One that cannot
 * be read is left out, and the question is then about more.
 */

interface SelectorTexts {
  readonly fieldSelector?: string | null;
  readonly labelSelector?: string | null;
}

/** Undefined: the question is about all objects. */
export function readSelectors({ fieldSelector, labelSelector }: SelectorTexts): AskedSelectors | undefined {
  const fields = readText(fieldSelector, parseFieldSelector);
  const labels = readText(labelSelector, parseLabelSelector);
  return toSelectors(fields, labels);
}

interface Found<T> {
  readonly requirements: readonly T[];
  readonly isWhole: boolean;
}

const NOTHING: Found<never> = { requirements: [], isWhole: true };

function toSelectors(
  fields: Found<FieldRequirement>,
  labels: Found<LabelRequirement>,
): AskedSelectors | undefined {
  const problems = [...problemsOf('fieldSelector', fields), ...problemsOf('labelSelector', labels)];
  if (fields.requirements.length + labels.requirements.length + problems.length === 0) return undefined;
  return { fields: fields.requirements, labels: labels.requirements, problems };
}

const problemsOf = (name: string, { requirements, isWhole }: Found<unknown>): string[] =>
  isWhole
    ? []
    : [
        `spec.resourceAttributes.${name} ${requirements.length > 0 ? 'partially ' : ''}ignored due to parse error`,
      ];

/** More than a query has room for; a body has room for millions of requirements, whose reading would delay everybody. */
const MOST_TEXT = 64 * 1024;

function readText<T>(text: string | null | undefined, parse: (text: string) => T[]): Found<T> {
  if (text === undefined || text === null || text === '') return NOTHING;
  if (text.length > MOST_TEXT) return { requirements: [], isWhole: false };
  try {
    return { requirements: parse(text), isWhole: true };
  } catch {
    return { requirements: [], isWhole: false };
  }
}

const SELECTING: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection']);

/** Adds the query's selectors to the authorization question. */
export function withSelectors(
  request: AuthorizationAttributes & Pick<AuthenticatedRequest, 'query' | 'signal'>,
): AuthorizationAttributes {
  const { user, verb, target, path, query } = request;
  // The old form of a watch does not always select.
  if (target === undefined || !SELECTING.has(verb) || /^\/apis?\/(.+\/)?v[^/]+\/watch\//.test(path))
    return request;
  const selectors = readSelectors({
    fieldSelector: query.get('fieldSelector'),
    labelSelector: query.get('labelSelector'),
  });
  return selectors === undefined ? request : { user, verb, target, path, signal: request.signal, selectors };
}

export interface ReviewSelectors {
  readonly fieldSelector?: FieldSelectorAttributes;
  readonly labelSelector?: LabelSelectorAttributes;
}

/** The selectors of an access review, as text or as requirements. */
export function reviewedSelectors(review: ReviewSelectors): AskedSelectors | undefined {
  const { fieldSelector = {}, labelSelector = {} } = review;
  const fields = fieldSelector.requirements ?? [];
  const labels = labelSelector.requirements ?? [];
  return toSelectors(
    fields.length > 0
      ? readRequirements(fields, toFieldRequirement)
      : readText(fieldSelector.rawSelector, parseFieldSelector),
    labels.length > 0
      ? readRequirements(labels, toLabelRequirement)
      : readText(labelSelector.rawSelector, parseLabelSelector),
  );
}

function readRequirements<Given, T>(
  given: readonly Given[],
  read: (requirement: Given) => T | undefined,
): Found<T> {
  const requirements = given.map(read).filter((requirement) => requirement !== undefined);
  return { requirements, isWhole: requirements.length === given.length };
}

/** Fields are compared with one value, as the selectors of requests do. */
function toFieldRequirement({
  key = '',
  operator,
  values = [],
}: FieldSelectorRequirement): FieldRequirement | undefined {
  const [value] = values;
  if (values.length !== 1 || value === undefined) return undefined;
  if (operator !== 'In' && operator !== 'NotIn') return undefined;
  return { field: key, negated: operator === 'NotIn', value };
}

function toLabelRequirement({
  key = '',
  operator,
  values = [],
}: LabelSelectorRequirement): LabelRequirement | undefined {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return { key, operator, values };
    case 'Exists':
    case 'DoesNotExist':
      return { key, operator, values: [] };
    default:
      return undefined;
  }
}

/** Converts to the form of a webhook review, which lacks comparisons of numbers. */
export function toReviewSelectors({ fields, labels }: AskedSelectors): JsonObject {
  const fieldRequirements = fields.map(({ field, negated, value }) => ({
    key: field,
    operator: negated ? 'NotIn' : 'In',
    values: [value],
  }));
  const labelRequirements = labels
    .filter(({ operator }) => operator !== 'Gt' && operator !== 'Lt')
    .map(({ key, operator, values }) => ({
      key,
      operator,
      ...(values.length === 0 ? {} : { values: [...values] }),
    }));
  return {
    ...(fieldRequirements.length === 0 ? {} : { fieldSelector: { requirements: fieldRequirements } }),
    ...(labelRequirements.length === 0 ? {} : { labelSelector: { requirements: labelRequirements } }),
  };
}

/** Rules of the selectors of a review (Kubernetes: apis/authorization/validation). Newer clients may know more operators. */
export function validateSelectors(at: FieldPath, { fieldSelector, labelSelector }: ReviewSelectors): void {
  if (fieldSelector !== undefined) {
    const path = at.field('fieldSelector');
    mustHaveOneForm(path, fieldSelector);
    for (const [item, requirement] of path.field('requirements').each(fieldSelector.requirements)) {
      if ((requirement.key ?? '') === '') item.field('key').required('must be specified');
      mustFitOperator(item, requirement);
    }
  }
  if (labelSelector === undefined) return;
  const path = at.field('labelSelector');
  mustHaveOneForm(path, labelSelector);
  for (const [item, requirement] of path.field('requirements').each(labelSelector.requirements)) {
    const { key = '', values } = requirement;
    mustFitOperator(item, requirement);
    item.field('key').invalidFor(key, checkQualifiedName(key));
    for (const [place, value] of item.field('values').each(values))
      place.invalidFor(value, checkLabelValue(value));
  }
}

function mustHaveOneForm(
  at: FieldPath,
  {
    rawSelector = '',
    requirements = [],
  }: { readonly rawSelector?: string; readonly requirements?: readonly unknown[] | null },
): void {
  const count = requirements?.length ?? 0;
  if (rawSelector !== '' && count > 0)
    at.field('rawSelector').invalid(rawSelector, 'may not specified at the same time as requirements');
  if (rawSelector === '' && count === 0)
    at.field('requirements').required(`when ${at} is specified, requirements or rawSelector is required`);
}

function mustFitOperator(
  at: FieldPath,
  { operator, values = [] }: { readonly operator?: string; readonly values?: readonly string[] },
): void {
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0)
    at.field('values').required("must be specified when `operator` is 'In' or 'NotIn'");
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0)
    at.field('values').forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
}
