import { type GroupResource, toQualifiedResource } from '../api/names.ts';
import { forbidden } from '../api/status.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { AuthenticatedRequest, ResourceTarget } from '../request/api-request.ts';
import type { History, LoggedRevision, LogQuery } from '../storage/history.ts';
import { NO_REVISION, type Revision, toRevision } from '../storage/revision.ts';
import type { Store } from '../storage/store.ts';

/**
 * Decides which past a right covers. A right is given by names, and a name may have had several owners: a namespace that was
 * deleted and created again belongs to its new tenant, and the old tenant's revisions do not. So a right within a namespace
 * covers the live namespace since its creation, and a right by the name of an object covers the live object of that name. Older
 * revisions need the same right in all namespaces, for a right by name the same right for all names, or the verb `recall`:
 *
 *     apiGroups: [""]  resources: [namespaces]  resourceNames: [shop]  verbs: [recall]
 *
 * in a ClusterRole that a ClusterRoleBinding grants. It opens nothing by itself: the right to read is needed besides.
 */

const NAMESPACES: GroupResource = { group: '', resource: 'namespaces' };

const isNamespaces = ({ group, resource }: GroupResource): boolean =>
  group === NAMESPACES.group && resource === NAMESPACES.resource;

/** Pages of the log that are searched for the birth of one name. */
const MAX_PAGES = 10;

/** Cached births per log: those of live objects, which never change. */
const MAX_REMEMBERED = 10_000;

/** An object, or the objects of one name in all namespaces. */
export type Named = GroupResource & { readonly namespace: string | undefined; readonly name: string };

type Boundary = Pick<LoggedRevision, 'revision' | 'verb' | 'at'>;

interface BirthParts {
  /** The current state. */
  readonly store: Pick<Store, 'get'>;
  readonly historyOf: (resource: GroupResource) => Pick<History, 'rows' | 'newest' | 'revisionAt'>;
}

/** Finds the birth of objects in the log. */
export class Births {
  readonly #parts: BirthParts;
  /** By log and uid. */
  readonly #known = new WeakMap<object, Map<string, Revision>>();

  constructor(parts: BirthParts) {
    this.#parts = parts;
  }

  /**
   * Returns {@link before} from memory; NO_REVISION when memory shows that `from` is not before the birth. Undefined: the log
   * must be read.
   */
  async known(
    { namespace, ...named }: Named,
    of: GroupResource,
    from: Revision,
  ): Promise<Revision | undefined> {
    if (namespace === undefined) return undefined;
    const live = await this.#parts.store.get({ ...named, namespace }, { kind: 'any' });
    if (live === undefined) return undefined;
    const history = this.#parts.historyOf(of);
    const isLater = live.revision <= from && this.#parts.historyOf(named) === history;
    return isLater ? NO_REVISION : this.#knownOf(history).get(live.uid);
  }

  /**
   * Returns the newest revision, in the log of a resource, that may show an earlier life of the named object: the one before
   * its creation, or that of its deletion when it does not exist. NO_REVISION: no earlier life is in the history that is kept.
   */
  async before(named: Named, of: GroupResource): Promise<Revision> {
    const { namespace } = named;
    if (namespace === undefined) return this.#beforeAll(named);
    const live = await this.#parts.store.get({ ...named, namespace }, { kind: 'any' });
    const known = live === undefined ? undefined : this.#knownOf(this.#parts.historyOf(of)).get(live.uid);
    if (known !== undefined) return known;
    const found = await this.#find(named, live?.revision);
    const before = found === undefined ? NO_REVISION : await this.#inLogOf(of, named, found);
    return this.#remember(this.#parts.historyOf(of), live?.uid, before);
  }

  /** `live`: the last revision of the live object. */
  async #find(named: Named, live: Revision | undefined): Promise<Boundary | undefined> {
    // A standby that serves history may lag: the query waits for this revision.
    const upTo = live ?? (await this.#parts.historyOf(named).newest());
    if (live === undefined) {
      const last = await this.#newest(named, { upTo });
      if (last === undefined || last.verb === 'delete') return last;
    }
    const created = await this.#newest(named, { upTo, verb: 'create' });
    return created && { ...created, revision: toRevision(created.revision - 1n) };
  }

  /** Logs of different databases have only times in common. */
  async #inLogOf(of: GroupResource, named: Named, { revision, at }: Boundary): Promise<Revision> {
    const history = this.#parts.historyOf(of);
    if (this.#parts.historyOf(named) === history) return revision;
    const there = await history.revisionAt(at);
    // For a clock that lags, the moment is in the future.
    return there === 'future' ? history.newest() : (there ?? NO_REVISION);
  }

  /** Objects since the last delete of the name are alive. */
  async #beforeAll(named: Named): Promise<Revision> {
    const upTo = await this.#parts.historyOf(named).newest();
    return (await this.#newest(named, { upTo, verb: 'delete' }))?.revision ?? NO_REVISION;
  }

  /** The newest row; after too many pages, the last position read, before which all unread rows lie. */
  async #newest(
    { group, resource, namespace, name }: Named,
    which: Pick<LogQuery, 'verb'> & { readonly upTo: Revision },
  ): Promise<Boundary | undefined> {
    const history = this.#parts.historyOf({ group, resource });
    const query = { resource: { group, resource }, name, ...(namespace === undefined ? {} : { namespace }) };
    let { upTo } = which;
    for (let pages = 1; ; pages += 1) {
      const asked = { ...query, ...which, upTo, order: 'newest first', states: 'none', limit: 1 } as const;
      const { rows, next } = await history.rows(asked);
      const [row] = rows;
      if (row !== undefined || next === undefined) return row;
      if (pages === MAX_PAGES) return { revision: next, verb: 'delete', at: new Date().toISOString() };
      upTo = toRevision(next - 1n);
    }
  }

  #knownOf(history: object): Map<string, Revision> {
    const known = this.#known.get(history) ?? new Map<string, Revision>();
    this.#known.set(history, known);
    return known;
  }

  #remember(history: object, uid: string | undefined, before: Revision): Revision {
    const known = this.#knownOf(history);
    if (known.size >= MAX_REMEMBERED) known.clear();
    if (uid !== undefined) known.set(uid, before);
    return before;
  }
}

/** A right of the client, as the authorizer was asked for it. */
export interface GrantedRight {
  readonly verb: string;
  readonly target: ResourceTarget;
  /** The stored resource of the target. */
  readonly storage: GroupResource;
  readonly namespaced: boolean;
}

/** An earlier life that a right does not cover. */
export interface EarlierLife {
  /** Its newest revision. */
  readonly before: Revision;
  readonly why: string;
}

/** Asks for a further right of the client. */
type May = (verb: string, target: ResourceTarget) => Promise<boolean> | boolean;

/** Undefined: the right covers the state of `from`, and everything since. */
export async function earlierLife(
  right: GrantedRight,
  from: Revision,
  { births, may }: { readonly births: Pick<Births, 'known' | 'before'>; readonly may: May },
): Promise<EarlierLife | undefined> {
  const { verb, target, storage, namespaced } = right;
  const { namespace: home, name } = target;
  const within = isNamespaces(storage) ? '' : home;
  const recalled = home === '' ? toTarget(storage, target.version, name) : toTarget(NAMESPACES, 'v1', home);
  const find = async (
    named: Named,
    wider: ResourceTarget,
    where: string,
  ): Promise<EarlierLife | undefined> => {
    const known = await births.known(named, storage, from);
    if (known !== undefined && from >= known) return undefined;
    if (await may(verb, wider)) return undefined;
    const before = known ?? (await births.before(named, storage));
    if (from >= before || (await may('recall', recalled))) return undefined;
    return { before, why: explain({ before, named, where, right, recalled }) };
  };
  if (home !== '') {
    const named = { ...NAMESPACES, namespace: '', name: home };
    const found = await find(named, { ...target, namespace: '' }, 'in all namespaces');
    if (found !== undefined) return found;
  }
  if (name === '') return undefined;
  const named = { ...storage, namespace: namespaced && within === '' ? undefined : within, name };
  return find(named, { ...target, namespace: within, name: '' }, 'for all names');
}

interface Words {
  readonly before: Revision;
  readonly named: Named;
  readonly where: string;
  readonly right: GrantedRight;
  readonly recalled: ResourceTarget;
}

function explain({ before, named, where, right: { verb, target }, recalled }: Words): string {
  const what = `${named.resource} ${JSON.stringify(named.name)}`;
  return (
    `the history of the present ${what} begins with revision ${before + 1n}; what is older needs the right to ${verb} ` +
    `${toQualifiedResource(target)} ${where}, or the verb "recall" on ${recalled.resource} ${JSON.stringify(recalled.name)} at the cluster scope`
  );
}

const toTarget = ({ group, resource }: GroupResource, version: string, name: string): ResourceTarget => ({
  group,
  version,
  resource,
  name,
  namespace: '',
  subresource: '',
  subpath: '',
});

/** Asks the authorizer about the client of a request. */
export const asking =
  (
    authorizer: Authorizer,
    { user, path, signal }: Pick<AuthenticatedRequest, 'user' | 'path' | 'signal'>,
  ): May =>
  async (verb, target) =>
    (await authorizer.authorize({ user, path, signal, verb, target })).decision === 'allow';

/** @throws StatusError 403 */
export function assertCovered(found: EarlierLife | undefined, target: ResourceTarget): void {
  if (found !== undefined) throw forbidden(target, target.name, found.why);
}
