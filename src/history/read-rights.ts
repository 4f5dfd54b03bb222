import type { GroupResource } from '../api/names.ts';
import { forbidden } from '../api/status.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { Registry } from '../registry/registry.ts';
import type {
  AuthenticatedRequest,
  AuthorizedResourceRequest,
  ResourceTarget,
} from '../request/api-request.ts';
import type { LoggedRevision } from '../storage/history.ts';
import type { ObjectKey } from '../storage/key.ts';
import { type Revision, toRevision } from '../storage/revision.ts';
import {
  type Births,
  type EarlierLife,
  earlierLife,
  type GrantedRight,
  type Named,
} from '../verbs/incarnations.ts';

type Asker = Pick<AuthenticatedRequest, 'user' | 'path' | 'signal' | 'audit'>;

/** Most cached decisions. */
const MAX_REMEMBERED = 10_000;

/**
 * Most questions that a page may ask the authorizer and the log, where an answer from another server or the database
 * counts as ten.
 */
const MOST_ASKED = 2000;
const FAR = 10;

/** The state in the log that a right is checked for. */
type PastState = Pick<LoggedRevision, 'key' | 'revision'>;

interface RightsParts {
  readonly authorizer: Authorizer;
  readonly registry: Registry;
  readonly births: Pick<Births, 'before'>;
}

/**
 * Decides which past states the client of one request may read: those of objects that it may read now, as far back as
 * the current objects go. Caches decisions for the request, or for `forMs`.
 */
export class ReadRights {
  readonly #asker: Asker;
  readonly #parts: RightsParts;
  readonly #forMs: number;
  readonly #known = new Map<string, Promise<boolean> | boolean>();
  readonly #births = new Map<string, Promise<Revision>>();
  #since = performance.now();
  #asked = 0;

  constructor(asker: Asker, parts: RightsParts, forMs = Number.POSITIVE_INFINITY) {
    this.#asker = asker;
    this.#parts = parts;
    this.#forMs = forMs;
  }

  /** The page has used up its questions: it ends, and the next request continues. */
  get isSpent(): boolean {
    return this.#asked >= MOST_ASKED;
  }

  /** Checks the right to list the cluster or the namespace first, then the right to the object. */
  async mayRead(state: PastState): Promise<boolean> {
    const may = await this.#mayList(state);
    if (may) this.#asker.audit?.shows(this.#targetOf(state.key));
    return may;
  }

  async #mayList(state: PastState): Promise<boolean> {
    const { key } = state;
    if (await this.#may('list', { ...key, namespace: '', name: '' })) return true;
    const all = { ...key, name: '' };
    if ((await this.#may('list', all)) && (await this.#earlierLife('list', all, state)) === undefined)
      return true;
    return this.mayGet(state);
  }

  async mayGet(state: PastState): Promise<boolean> {
    const { key } = state;
    if (await this.#may('get', { ...key, namespace: '', name: '' })) return true;
    return (await this.#mayGetIn({ ...key, name: '' }, state)) || this.#mayGetIn(key, state);
  }

  /** `which`: the object, or all objects in its namespace. */
  async #mayGetIn(which: ObjectKey, state: PastState): Promise<boolean> {
    return (await this.#may('get', which)) && (await this.#earlierLife('get', which, state)) === undefined;
  }

  /** Whether the object may be read now. Past states are checked one by one. */
  async mayReadNow(key: ObjectKey): Promise<boolean> {
    return (await this.#may('list', { ...key, name: '' })) || this.#may('get', key);
  }

  /** Why a past state is hidden from a client that may read the object now. */
  async whyNot(state: PastState): Promise<string | undefined> {
    return (await this.#narrowest(state))?.why;
  }

  /** The newest revision that is hidden from a client that may read the object now; undefined: its whole past is visible. */
  async hiddenUpTo(key: ObjectKey): Promise<Revision | undefined> {
    const first = { key, revision: toRevision(1n) };
    return (await this.mayRead(first)) ? undefined : (await this.#narrowest(first))?.before;
  }

  async #narrowest(state: PastState): Promise<EarlierLife | undefined> {
    const { key } = state;
    const all = { ...key, name: '' };
    const ofList = (await this.#may('list', all)) ? await this.#earlierLife('list', all, state) : undefined;
    if (ofList !== undefined) return ofList;
    return (await this.#may('get', key)) ? this.#earlierLife('get', key, state) : undefined;
  }

  #earlierLife(
    verb: 'get' | 'list',
    key: ObjectKey,
    { revision }: PastState,
  ): Promise<EarlierLife | undefined> {
    const { group, resource, namespace } = key;
    const storage = { group, resource };
    const right: GrantedRight = {
      verb,
      target: this.#targetOf(key),
      storage,
      namespaced: namespace !== '',
    };
    // The first row of a life includes nothing of the previous one.
    return earlierLife(right, toRevision(revision - 1n), {
      // Births that this request has already looked up.
      births: {
        known: async (named, of) => this.#births.get(nameOf(named, of)),
        before: (named, of) => this.#before(named, of),
      },
      may: (other, target) => this.#ask(other, target),
    });
  }

  #before(named: Named, of: GroupResource): Promise<Revision> {
    const question = nameOf(named, of);
    let known = this.#births.get(question);
    if (known === undefined) {
      this.#asked += FAR;
      known = this.#parts.births.before(named, of);
      this.#births.set(question, known);
    }
    return known;
  }

  #may(verb: 'get' | 'list', key: ObjectKey): Promise<boolean> | boolean {
    return this.#ask(verb, this.#targetOf(key));
  }

  #targetOf({ group, resource, namespace, name }: ObjectKey): ResourceTarget {
    const version = this.#parts.registry.findStorage({ group, resource })?.storage.version ?? '';
    // A request for a namespace is one in that namespace.
    const within = group === '' && resource === 'namespaces' ? name : namespace;
    return { group, version, resource, namespace: within, name, subresource: '', subpath: '' };
  }

  #ask(verb: string, target: ResourceTarget): Promise<boolean> | boolean {
    if (performance.now() - this.#since > this.#forMs || this.#known.size >= MAX_REMEMBERED) {
      this.#known.clear();
      this.#births.clear();
      this.#since = performance.now();
    }
    const { group, resource, namespace, name } = target;
    const question = JSON.stringify([verb, group, resource, namespace, name]);
    const known = this.#known.get(question);
    if (known !== undefined) return known;
    const verdict = this.#parts.authorizer.authorize({ ...this.#asker, verb, target });
    this.#asked += verdict instanceof Promise ? FAR : 1;
    const answer =
      verdict instanceof Promise
        ? verdict.then(({ decision }) => decision === 'allow')
        : verdict.decision === 'allow';
    this.#known.set(question, answer);
    return answer;
  }
}

const nameOf = ({ group, resource, namespace, name }: Named, of: GroupResource): string =>
  JSON.stringify([group, resource, namespace, name, of.group, of.resource]);

/** Checks a state that the request itself names. @throws StatusError 403 */
export async function assertMayRead(
  state: PastState,
  rights: ReadRights,
  request: AuthorizedResourceRequest,
): Promise<void> {
  if (!(await rights.mayRead(state))) throw refused(request, await rights.whyNot(state));
}

/** Checks the current state likewise. @throws StatusError 403 */
export async function assertMayReadNow(
  key: ObjectKey,
  rights: ReadRights,
  request: AuthorizedResourceRequest,
): Promise<void> {
  if (!(await rights.mayReadNow(key))) throw refused(request);
}

const refused = (
  { user, target }: AuthorizedResourceRequest,
  why = `User ${JSON.stringify(user.username)} may not read the object that it tells of`,
): Error => forbidden(target, target.name, why);
