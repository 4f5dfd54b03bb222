import { badRequest } from '../api/status.ts';
import {
  type FieldRequirement,
  type LabelRequirement,
  type LabelSet,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
  requiredValue,
  SelectorError,
} from '../object/selectors.ts';
import type { ServedResource } from '../registry/registry.ts';
import type { ResourceTarget } from '../request/api-request.ts';
import type { Scope } from '../storage/key.ts';
import type { Entry, FieldValue } from '../storage/store.ts';
import type { ListOptions } from './list-options.ts';

/** What a list, watch or deletecollection is about: the part of the resource to look at, and the test for what is in it. */
export interface Selection {
  readonly scope: Scope;
  /** Undefined: everything in the scope. */
  readonly matches: ((entry: Entry) => boolean) | undefined;
  /** A part of the test that the store has an index for. */
  readonly lookUp?: FieldValue;
}

/**
 * A selector that names one object, or one namespace, narrows the scope, so that a watch of one secret among thousands costs
 * what it should.
 * @throws StatusError 400 for selectors that cannot be read and fields that cannot be selected by
 */
export function toSelection(options: ListOptions, target: ResourceTarget, served: ServedResource): Selection {
  const labels = parse(() => parseLabelSelector(options.labelSelector));
  const fields = parse(() => parseFieldSelector(options.fieldSelector)).map((one) =>
    canonicalField(one, served),
  );
  const name = target.name === '' ? requiredValue(fields, 'metadata.name') : target.name;
  if (target.name !== '' && (requiredValue(fields, 'metadata.name') ?? target.name) !== target.name) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  }
  const namespace = target.namespace === '' ? requiredValue(fields, 'metadata.namespace') : target.namespace;
  const namespaced = served.definition.namespaced;
  const scope = {
    ...(namespaced && namespace !== undefined
      ? { namespace }
      : namespaced || name === undefined
        ? {}
        : { namespace: '' }),
    ...(name === undefined ? {} : { name }),
  };
  const byLabels = labels.length === 0 ? undefined : matchesByLabels(labels);
  const left = fields.filter((requirement) => !isInScope(requirement, scope));
  if (left.length === 0) return { scope, matches: byLabels };
  const byFields = (entry: Entry): boolean => matchesFields(left, entry.fields);
  const lookUp = left.find((requirement) => isIndexed(requirement, served));
  return {
    scope,
    matches: byLabels === undefined ? byFields : (entry) => byLabels(entry) && byFields(entry),
    ...(lookUp === undefined ? {} : { lookUp: { field: lookUp.field, value: lookUp.value } }),
  };
}

/** Those without a value are not in the index: of pods, whose nodes are indexed, the scheduler looks for them all day. */
const isIndexed = ({ field, negated, value }: FieldRequirement, { definition }: ServedResource): boolean =>
  !negated && value !== '' && definition.fields.indexed?.includes(field) === true;

/** What follows from the scope needs no look at the object. */
const isInScope = ({ field, negated, value }: FieldRequirement, { namespace, name }: Scope): boolean =>
  !negated &&
  ((field === 'metadata.name' && value === name) || (field === 'metadata.namespace' && value === namespace));

/** Neighbours mostly have the same labels, as one object: then the answer is known. */
function matchesByLabels(requirements: readonly LabelRequirement[]): (entry: Entry) => boolean {
  let last: LabelSet | undefined;
  let matched = false;
  return ({ labels }) => {
    if (labels !== last) {
      last = labels;
      matched = matchesLabels(requirements, labels);
    }
    return matched;
  };
}

function canonicalField(requirement: FieldRequirement, { definition }: ServedResource): FieldRequirement {
  const field = definition.fields.aliases[requirement.field] ?? requirement.field;
  const known =
    field === 'metadata.name' || field === 'metadata.namespace' || definition.fields.names.includes(field);
  if (!known) throw badRequest(`field label not supported: ${requirement.field}`);
  return field === requirement.field ? requirement : { ...requirement, field };
}

function parse<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof SelectorError) throw badRequest(error.message);
    throw error;
  }
}
