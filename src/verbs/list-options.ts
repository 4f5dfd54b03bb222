import { badRequest, type FieldError, invalid } from '../api/status.ts';
import { type ContinueToken, parseContinueToken } from '../storage/continue-token.ts';
import { NO_REVISION, parseRevision, type Revision } from '../storage/revision.ts';
import type { Freshness, ListFreshness, WatchQuery } from '../storage/store.ts';
import { readBoolean, readInteger, readString } from './query-values.ts';

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
}

/** @throws StatusError 400 for values that cannot be read */
export function readListOptions(query: URLSearchParams): ListOptions {
  return {
    labelSelector: readString(query, 'labelSelector'),
    fieldSelector: readString(query, 'fieldSelector'),
    resourceVersion: readString(query, 'resourceVersion'),
    resourceVersionMatch: readString(query, 'resourceVersionMatch'),
    limit: Math.max(readInteger(query, 'limit') ?? 0, 0),
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

/** @throws StatusError 400 */
function readRevision(text: string): Revision {
  const revision = parseRevision(text);
  if (revision === undefined) {
    throw badRequest(
      `invalid resource version: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  return revision;
}

/** How new a get must be: unset is most recent, 0 is any, otherwise not older than. @throws StatusError 400 */
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
 * The table "List semantics" of the protocol. The invalid cells about resourceVersionMatch were refused by
 * {@link checkListOptions}.
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
  if (options.resourceVersion !== '' && options.resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const token = parseContinueToken(options.continue, namespaced);
  if (token === undefined) throw badRequest('invalid continue token: continue key is not valid');
  if (token.revision === 'latest') return { freshness: { kind: 'latest' }, token };
  return { freshness: { kind: 'exact', revision: token.revision }, token };
}

/**
 * The table "Watch semantics": unset and 0 begin with the state, anything else with the changes after it. A streaming list
 * begins with the state at least as new as the version given.
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
