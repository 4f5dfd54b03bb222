import type { Gates } from '../api/feature-gates.ts';
import { badRequest, type FieldError, invalid } from '../api/status.ts';
import { goQuote } from '../object/go-value.ts';
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
import { type ContinueToken, parseContinueToken } from '../storage/continue-token.ts';
import type { Scope } from '../storage/key.ts';
import { NO_REVISION, parseRevision, type Revision } from '../storage/revision.ts';
import type { Entry, Freshness, ListFreshness, SoughtValue, WatchQuery } from '../storage/store.ts';
import { readBoolean, readInteger, readString } from './query-options.ts';
import { parseShards, type Shards } from './shards.ts';

/** Options of list, watch and deletecollection, read from the query and checked against each other. */
export interface ListOptions {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  /** 0: no limit. */
  readonly limit: number;
  readonly continue: string;
  readonly timeoutSeconds: number | undefined;
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
  /** Undefined: all parts, or the feature ShardedListAndWatch is off. */
  readonly shards: Shards | undefined;
}

/** @throws StatusError 400 for values that cannot be read */
export function readListOptions(query: URLSearchParams, isOn: Gates): ListOptions {
  const shardSelector = isOn('ShardedListAndWatch') ? readString(query, 'shardSelector') : '';
  return {
    shards: shardSelector === '' ? undefined : parseShards(shardSelector),
    labelSelector: readString(query, 'labelSelector'),
    fieldSelector: readString(query, 'fieldSelector'),
    resourceVersion: readString(query, 'resourceVersion'),
    resourceVersionMatch: readString(query, 'resourceVersionMatch'),
    limit: readLimit(query),
    continue: readString(query, 'continue'),
    timeoutSeconds: readInteger(query, 'timeoutSeconds'),
    allowWatchBookmarks: readBoolean(query, 'allowWatchBookmarks') ?? false,
    sendInitialEvents: readBoolean(query, 'sendInitialEvents'),
  };
}

const LIST_OPTIONS = { kind: 'ListOptions', group: 'meta.k8s.io' };

const forbiddenOption = (field: string, why: string): FieldError => ({
  type: 'FieldValueForbidden',
  field,
  message: `Forbidden: ${why}`,
});

const unsupportedMatch = (value: string, supported: readonly string[]): FieldError => ({
  type: 'FieldValueNotSupported',
  field: 'resourceVersionMatch',
  message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported.map((s) => JSON.stringify(s)).join(', ')}`,
});

/** @throws StatusError 422 of kind ListOptions */
export function checkListOptions(options: ListOptions): void {
  const errors: FieldError[] = [];
  const { resourceVersionMatch: match } = options;
  if (match !== '') {
    if (options.resourceVersion === '') {
      const why = 'resourceVersionMatch is forbidden unless resourceVersion is provided';
      errors.push(forbiddenOption('resourceVersionMatch', why));
    }
    if (options.continue !== '') {
      const why = 'resourceVersionMatch is forbidden when continue is provided';
      errors.push(forbiddenOption('resourceVersionMatch', why));
    }
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      errors.push(unsupportedMatch(match, ['Exact', 'NotOlderThan', '']));
    }
    if (match === 'Exact' && options.resourceVersion === '0') {
      const why = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"';
      errors.push(forbiddenOption('resourceVersionMatch', why));
    }
  }
  if (options.sendInitialEvents !== undefined) {
    errors.push(forbiddenOption('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  if (errors.length > 0) throw invalid(LIST_OPTIONS, '', errors);
}

/** @throws StatusError 422 of kind ListOptions */
export function checkWatchOptions(options: ListOptions, watchListEnabled: boolean): void {
  const errors: FieldError[] = [];
  const { resourceVersionMatch: match, sendInitialEvents } = options;
  if (sendInitialEvents !== undefined) {
    if (match !== 'NotOlderThan') {
      const why = 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
      errors.push(forbiddenOption('resourceVersionMatch', why));
    }
    if (!watchListEnabled) {
      const why = 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled';
      errors.push(forbiddenOption('sendInitialEvents', why));
    }
  }
  if (match !== '') {
    if (sendInitialEvents === undefined) {
      const why = 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided';
      errors.push(forbiddenOption('resourceVersionMatch', why));
    }
    if (match !== 'NotOlderThan') errors.push(unsupportedMatch(match, ['NotOlderThan']));
    if (options.continue !== '') {
      const why = 'resourceVersionMatch is forbidden when continue is provided';
      errors.push(forbiddenOption('resourceVersionMatch', why));
    }
  }
  if (errors.length > 0) throw invalid(LIST_OPTIONS, '', errors);
}

/** Unlike other numbers, a limit cannot be empty. @throws StatusError 400 */
function readLimit(query: URLSearchParams): number {
  if (query.get('limit') === '') throw badRequest('strconv.ParseInt: parsing "": invalid syntax');
  return Math.max(readInteger(query, 'limit') ?? 0, 0);
}

/** Kubernetes parses a number, so that zeros may come first. @throws StatusError 400 */
function readRevision(text: string): Revision {
  const revision = parseRevision(text.replace(/^0+(?=[0-9])/, ''));
  if (revision === undefined) {
    const quoted = JSON.stringify(text);
    const why = /^[0-9]+$/.test(text) ? 'value out of range' : 'invalid syntax';
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: ${why}`,
    );
  }
  return revision;
}

/** How fresh a get must be: unset is most recent, 0 is any, otherwise not older than. @throws StatusError 400 */
export function toFreshness(resourceVersion: string): Freshness {
  if (resourceVersion === '') return { kind: 'latest' };
  const revision = readRevision(resourceVersion);
  return revision === NO_REVISION ? { kind: 'any' } : { kind: 'not-older', revision };
}

export interface ListStart {
  readonly freshness: ListFreshness;
  readonly token: ContinueToken | undefined;
}

/**
 * Implements the table "List semantics" of the protocol. {@link checkListOptions} has refused its invalid cells of
 * resourceVersionMatch.
 * @throws StatusError 400 for a continue token beside a resourceVersion other than 0, and for malformed values
 */
export function toListStart(options: ListOptions, namespaced: boolean): ListStart {
  if (options.continue !== '') return continueFrom(options, namespaced);
  const freshness = toFreshness(options.resourceVersion);
  if (freshness.kind !== 'not-older') return { freshness, token: undefined };
  const exact =
    options.resourceVersionMatch === 'Exact' || (options.resourceVersionMatch === '' && options.limit > 0);
  return {
    freshness: exact ? { kind: 'exact', revision: freshness.revision } : freshness,
    token: undefined,
  };
}

function continueFrom(options: ListOptions, namespaced: boolean): ListStart {
  const token = parseContinueToken(options.continue, namespaced);
  if (token === undefined) throw badRequest('invalid continue token: continue key is not valid');
  if (options.resourceVersion !== '' && options.resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  if (token.revision === 'latest') return { freshness: { kind: 'latest' }, token };
  return { freshness: { kind: 'exact', revision: token.revision }, token };
}

/**
 * Implements the table "Watch semantics": unset and 0 begin with the state, anything else with the changes after it. A
 * streaming list begins with a state at least as new as the given version.
 * @throws StatusError 400
 */
export function toWatchStart(options: ListOptions): WatchQuery['start'] | 'latest' {
  const freshness = toFreshness(options.resourceVersion);
  if (options.sendInitialEvents === true) return { kind: 'state', freshness };
  if (options.sendInitialEvents === false && freshness.kind === 'latest') return 'latest';
  return freshness.kind === 'not-older'
    ? { kind: 'after', revision: freshness.revision }
    : { kind: 'state', freshness };
}

/** The objects of a list, watch or deletecollection: the scope to read, and the test for its objects. */
interface Selection {
  readonly scope: Scope;
  /** Undefined: everything in the scope. */
  readonly matches: Test;
  /** What the test implies. */
  readonly sought: readonly SoughtValue[];
}

/**
 * Narrows the scope for selectors of one object or namespace, so that a watch of one secret costs no more than one among
 * thousands.
 * @throws StatusError 400 for invalid selectors and unsupported fields
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
  const sought = [
    ...left.filter((requirement) => isIndexed(requirement, served)).map(toSoughtField),
    ...labels.flatMap(toSoughtLabel),
  ];
  const byFields = left.length === 0 ? undefined : (entry: Entry) => matchesFields(left, entry.fields);
  return { scope, matches: both(both(byLabels, byFields), options.shards?.matches), sought };
}

type Test = ((entry: Entry) => boolean) | undefined;

const both = (one: Test, other: Test): Test =>
  one === undefined || other === undefined ? (one ?? other) : (entry) => one(entry) && other(entry);

const toSoughtField = ({ field, value }: FieldRequirement): SoughtValue => ({
  of: 'field',
  name: field,
  value,
});

function toSoughtLabel({ key, operator, values }: LabelRequirement): SoughtValue[] {
  const [value = ''] = values;
  return operator === 'In' && values.length === 1 && value !== '' ? [{ of: 'label', name: key, value }] : [];
}

/** The index lacks empty values: it would contain all pods without a node, which the scheduler watches. */
const isIndexed = ({ field, negated, value }: FieldRequirement, { definition }: ServedResource): boolean =>
  !negated && value !== '' && definition.fields.indexed?.includes(field) === true;

/** The scope already ensures some requirements. */
const isInScope = ({ field, negated, value }: FieldRequirement, { namespace, name }: Scope): boolean =>
  !negated &&
  ((field === 'metadata.name' && value === name) || (field === 'metadata.namespace' && value === namespace));

/** Neighbours in lists often share their labels object: then the last answer is reused. */
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
  const { fields, namespaced, custom } = definition;
  const hasOwn = fields.names.length > 0 || custom !== undefined;
  const known =
    field === 'metadata.name' ||
    (field === 'metadata.namespace' && (namespaced || !hasOwn)) ||
    fields.names.includes(field);
  // Only types with fields of their own have a rule for them.
  if (!known)
    throw badRequest(
      hasOwn
        ? `field label not supported: ${requirement.field}`
        : `${goQuote(requirement.field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
    );
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
