import { forbidden } from '../api/status.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { Registry } from '../registry/registry.ts';
import type { AuthenticatedRequest, AuthorizedResourceRequest } from '../request/api-request.ts';
import type { ObjectKey } from '../storage/key.ts';

type Asker = Pick<AuthenticatedRequest, 'user' | 'path' | 'signal'>;

/** Decisions that are remembered at a time. */
const MAX_REMEMBERED = 10_000;

/**
 * What the client of one request may know of the past: of an object, what it may read of it now. Decisions are remembered for as long
 * as the request takes, or `forMs`.
 */
export class Rights {
  readonly #asker: Asker;
  readonly #authorizer: Authorizer;
  readonly #registry: Registry;
  readonly #forMs: number;
  readonly #known = new Map<string, Promise<boolean> | boolean>();
  #since = performance.now();

  constructor(
    asker: Asker,
    parts: { readonly authorizer: Authorizer; readonly registry: Registry },
    forMs = Number.POSITIVE_INFINITY,
  ) {
    this.#asker = asker;
    this.#authorizer = parts.authorizer;
    this.#registry = parts.registry;
    this.#forMs = forMs;
  }

  /** Whoever may list a namespace, or the cluster, may know of everything in it; else it is asked object by object. */
  async mayRead(key: ObjectKey): Promise<boolean> {
    return (await this.#may('list', { ...key, name: '' })) || (await this.mayGet(key));
  }

  async mayGet(key: ObjectKey): Promise<boolean> {
    return this.#may('get', key);
  }

  #may(verb: 'get' | 'list', { group, resource, namespace, name }: ObjectKey): Promise<boolean> | boolean {
    if (performance.now() - this.#since > this.#forMs || this.#known.size >= MAX_REMEMBERED) {
      this.#known.clear();
      this.#since = performance.now();
    }
    const question = JSON.stringify([verb, group, resource, namespace, name]);
    const known = this.#known.get(question);
    if (known !== undefined) return known;
    const version = this.#registry.findStorage({ group, resource })?.storage.version ?? '';
    // A request for a namespace is one in that namespace.
    const within = group === '' && resource === 'namespaces' ? name : namespace;
    const target = { group, version, resource, namespace: within, name, subresource: '', subpath: '' };
    const verdict = this.#authorizer.authorize({ ...this.#asker, verb, target });
    const answer =
      verdict instanceof Promise
        ? verdict.then(({ decision }) => decision === 'allow')
        : verdict.decision === 'allow';
    this.#known.set(question, answer);
    return answer;
  }
}

/** For what a request names that tells of one object. @throws StatusError 403 */
export async function assertMayRead(
  key: ObjectKey,
  rights: Rights,
  { user, target }: AuthorizedResourceRequest,
): Promise<void> {
  if (await rights.mayRead(key)) return;
  const why = `User ${JSON.stringify(user.username)} may not read the object that it tells of`;
  throw forbidden(target, target.name, why);
}
