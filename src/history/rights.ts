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

/** Decisions that are remembered at a time. */
const MAX_REMEMBERED = 10_000;

/**
 * What a page may ask the authorizer and the log: questions that are answered at once, or the tenth of those that are answered by
 * another server or the database.
 */
const MOST_ASKED = 2000;
const FAR = 10;

/** What of the log a right is asked for. */
export type PastState = Pick<LoggedRevision, 'key' | 'revision'>;

interface RightsParts {
  readonly authorizer: Authorizer;
  readonly registry: Registry;
  readonly births: Pick<Births, 'before'>;
}

/**
 * What the client of one request may know of the past: of an object, what it may read of it now, as far as that is the past of what is
 * there now. Decisions are remembered for as long as the request takes, or `forMs`.
 */
export class Rights {
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

  /** Enough was asked for one page: it ends, and goes on with the next request. */
  get isSpent(): boolean {
    return this.#asked >= MOST_ASKED;
  }

  /** The right to list a namespace, or the cluster, is one to know of everything in it; else it is asked object by object. */
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

  /** `which`: the object, or all in its namespace. */
  async #mayGetIn(which: ObjectKey, state: PastState): Promise<boolean> {
    return (await this.#may('get', which)) && (await this.#earlierLife('get', which, state)) === undefined;
  }

  /** As it is now. What of its past may be read is asked state by state. */
  async mayReadNow(key: ObjectKey): Promise<boolean> {
    return (await this.#may('list', { ...key, name: '' })) || this.#may('get', key);
  }

  /** Why a state may not be read of what may be read now. */
  async whyNot(state: PastState): Promise<string | undefined> {
    return (await this.#narrowest(state))?.why;
  }

  /** The newest revision in which nothing may be read of what may be read now; undefined: its whole past may be. */
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
      ...{ verb, target: this.#targetOf(key), storage, namespaced: namespace !== '' },
    };
    // The first row of a life shows nothing of the one before.
    return earlierLife(right, toRevision(revision - 1n), {
      // What the request has found out once is not looked for again.
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

/** For what a request names that tells of one object. @throws StatusError 403 */
export async function assertMayRead(
  state: PastState,
  rights: Rights,
  request: AuthorizedResourceRequest,
): Promise<void> {
  if (!(await rights.mayRead(state))) throw refused(request, await rights.whyNot(state));
}

/** The same, of an object as it is now. @throws StatusError 403 */
export async function assertMayReadNow(
  key: ObjectKey,
  rights: Rights,
  request: AuthorizedResourceRequest,
): Promise<void> {
  if (!(await rights.mayReadNow(key))) throw refused(request);
}

const refused = (
  { user, target }: AuthorizedResourceRequest,
  why = `User ${JSON.stringify(user.username)} may not read the object that it tells of`,
): Error => forbidden(target, target.name, why);
