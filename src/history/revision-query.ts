import { type GroupResource, parseQualifiedResource, toQualifiedResource } from '../api/names.ts';
import { badRequest } from '../api/status.ts';
import {
  type FieldRequirement,
  parseFieldSelector,
  requiredValue,
  SelectorError,
} from '../object/selectors.ts';
import type { Registry } from '../registry/registry.ts';
import { StorageError } from '../storage/errors.ts';
import type { History, LoggedRevision, LogQuery } from '../storage/history.ts';
import { type Revision, toRevision } from '../storage/revision.ts';
import type { WriteVerb } from '../storage/revision-log.ts';
import { beforeHistory, parseAsOf, readAsOf, readPast, revisionOf } from '../verbs/as-of.ts';
import { storedResource } from './object-reference.ts';

/** Conditions of a list or watch of revisions that the log evaluates. */
export type RowConditions = Pick<
  LogQuery,
  'resource' | 'namespace' | 'name' | 'uid' | 'user' | 'manager' | 'verb' | 'requestId'
>;

const VERBS: readonly string[] = ['create', 'update', 'delete'] satisfies readonly WriteVerb[];

const isVerb = (text: string): text is WriteVerb => VERBS.includes(text);

/** Reads the conditions that the log can evaluate; the selector checks the rest. @throws StatusError 400 */
export function readConditions(query: URLSearchParams, registry: Registry): RowConditions {
  const requirements = readSelector(query.get('fieldSelector') ?? '');
  const of = (field: string): string | undefined => requiredValue(requirements, field);
  const resource = of('object.resource');
  const verb = of('verb');
  if (verb !== undefined && !isVerb(verb))
    throw badRequest(
      `fieldSelector: verb: Unsupported value: ${JSON.stringify(verb)}: supported values: ${VERBS.join(', ')}`,
    );
  const found = {
    resource: resource === undefined ? undefined : storedResource(parseQualifiedResource(resource), registry),
    namespace: of('object.namespace'),
    name: of('object.name'),
    uid: of('object.uid'),
    user: of('user'),
    manager: of('manager'),
    verb,
    requestId: of('requestID'),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

function readSelector(text: string): readonly FieldRequirement[] {
  try {
    return parseFieldSelector(text);
  } catch (error) {
    if (error instanceof SelectorError) throw badRequest(error.message);
    throw error;
  }
}

/** Names a resource as the client's selector does, which may use another group or dialect than its storage. */
export type NameResource = (resource: GroupResource) => string;

/** @throws StatusError 400 */
export function namesOf(query: URLSearchParams, registry: Registry): NameResource {
  const named = new Map(
    readSelector(query.get('fieldSelector') ?? '')
      .filter(({ field }) => field === 'object.resource')
      .map(({ value }) => [
        toQualifiedResource(storedResource(parseQualifiedResource(value), registry)),
        value,
      ]),
  );
  return (resource) => {
    const text = toQualifiedResource(resource);
    return named.get(text) ?? text;
  };
}

/** The fields of a row that selectors match. */
export const fieldsOf = (
  { key, uid, verb, attribution }: LoggedRevision,
  nameOf: NameResource = toQualifiedResource,
): Record<string, string> => ({
  'object.resource': nameOf(key),
  'object.namespace': key.namespace,
  'object.name': key.name,
  'object.uid': uid,
  user: attribution.username,
  manager: attribution.fieldManager,
  verb,
  requestID: attribution.requestId,
});

interface RevisionRange {
  /** Exclusive; undefined: where history begins. */
  readonly after: Revision | undefined;
  /** Inclusive; undefined: the newest. */
  readonly upTo: Revision | undefined;
}

/**
 * `?since=` and `?until=`, each a revision or a moment, both inclusive.
 * @throws StatusError 400; 410 for what is older than the history that is kept
 */
export async function readRange(query: URLSearchParams, history: History): Promise<RevisionRange> {
  const since = query.get('since') ?? '';
  const until = query.get('until') ?? '';
  return {
    after: since === '' ? undefined : await readSince(since, history),
    upTo: until === '' ? undefined : await readUntil(until, history),
  };
}

async function readSince(text: string, history: History): Promise<Revision> {
  const since = parseAsOf('since', text);
  const { revision: begin, at } = await history.begin();
  const after =
    since.kind === 'revision'
      ? toRevision(since.revision - 1n)
      : await revisionOf(since, history, { field: 'since' });
  if (after !== undefined && after >= begin) return after;
  // A log from which nothing was compacted is complete.
  const reachesBack = at === undefined || (since.kind === 'moment' && Date.parse(since.at) >= at.getTime());
  if (reachesBack) return begin;
  throw await beforeHistory('since', history);
}

async function readUntil(text: string, history: History): Promise<Revision> {
  const until = parseAsOf('until', text);
  const upTo = await revisionOf(until, history, { field: 'until' });
  const { revision: begin } = await history.begin();
  if (upTo === undefined || upTo < begin) throw await beforeHistory('until', history);
  return upTo;
}

/**
 * The revision of this log that `?asOf=` names; undefined: the present.
 * @throws StatusError 400, 410; StorageError future
 */
export async function readAsOfRevision(
  query: URLSearchParams,
  history: History,
): Promise<Revision | undefined> {
  const asOf = readAsOf(query);
  if (asOf === undefined) return undefined;
  const newest = await history.newest();
  return readPast(asOf, history, async (revision) => {
    await assertInHistory(revision, history, newest);
    return revision;
  });
}

/** Checks that a revision lies between the begin of history and the newest. @throws StorageError compacted, future */
export async function assertInHistory(revision: Revision, history: History, newest: Revision): Promise<void> {
  if (revision > newest) throw new StorageError({ kind: 'future', requested: revision, current: newest });
  const { revision: begin } = await history.begin();
  if (revision < begin) throw new StorageError({ kind: 'compacted', requested: revision, compacted: begin });
}
