import { forbidden, internalError } from '../../api/status.ts';
import { type Authorizer, forbiddenMessage, type Verdict } from '../../authz/authorizer.ts';
import type { Registry } from '../../registry/registry.ts';
import type { ResourceDefinition } from '../../registry/resource-definition.ts';
import type { AuthorizedResourceRequest, ResourceTarget } from '../../request/api-request.ts';
import { type Revision, toRevision } from '../../storage/revision.ts';
import { getOrAdd } from '../../util/get-or-add.ts';
import type { Births } from '../../verbs/incarnations.ts';
import { ReadRights } from '../read-rights.ts';

/** An object as a request for it names it. */
export interface Subject {
  readonly definition: ResourceDefinition;
  readonly namespace: string;
  readonly name: string;
}

type Right = 'get' | 'create' | 'update';

interface Answer {
  readonly verdict: Verdict;
  /** Undefined: the caller may. */
  readonly refusal: Error | undefined;
}

interface RightsParts {
  readonly authorizer: Authorizer;
  readonly registry: Registry;
  readonly births: Births;
}

/** Checks that the caller could make the writes of a restore by its own requests. Caches answers for the whole restore. */
export class WriteRights {
  readonly #authorizer: Authorizer;
  readonly #readRights: ReadRights;
  readonly #request: AuthorizedResourceRequest;
  readonly #known = new Map<string, Promise<Answer>>();

  constructor(parts: RightsParts, request: AuthorizedResourceRequest) {
    this.#authorizer = parts.authorizer;
    this.#readRights = new ReadRights(request, parts);
    this.#request = request;
  }

  /** Calls `onVerdict` with the verdict, also before it throws. @throws StatusError 403 */
  async assert(verb: Right, subject: Subject, onVerdict?: (verdict: Verdict) => void): Promise<void> {
    const { verdict, refusal } = await this.#answer(verb, subject);
    onVerdict?.(verdict);
    if (refusal !== undefined) throw refusal;
  }

  /** Undefined: the caller may. */
  async refusal(verb: Right, subject: Subject): Promise<Error | undefined> {
    return (await this.#answer(verb, subject)).refusal;
  }

  /** Undefined: the caller may get the object in its past state. */
  async refusalOfPast(subject: Subject, then: Revision): Promise<Error | undefined> {
    const refusal = await this.refusal('get', subject);
    if (refusal !== undefined) return refusal;
    const { storage, namespaced } = subject.definition;
    const { group, resource } = storage;
    const key = { group, resource, namespace: namespaced ? subject.namespace : '', name: subject.name };
    // A row is judged by the state before it, so that the state of `then` is judged at the next revision.
    const state = { key, revision: toRevision(then + 1n) };
    if (await this.#readRights.mayGet(state)) return undefined;
    return forbidden(storage, key.name, (await this.#readRights.whyNot(state)) ?? MAY_NOT_GET);
  }

  #answer(verb: Right, subject: Subject): Promise<Answer> {
    const target = toTarget(verb, subject);
    const key = [verb, target.group, target.resource, target.namespace, target.name].join('\0');
    return getOrAdd(this.#known, key, () => this.#ask(verb, target));
  }

  async #ask(verb: Right, target: ResourceTarget): Promise<Answer> {
    const { user, signal } = this.#request;
    const attributes = { user, signal, verb, target, path: '' };
    const verdict = await this.#authorizer.authorize(attributes);
    const { decision, reason, error } = verdict;
    if (decision === 'allow') return { verdict, refusal: undefined };
    const refusal =
      decision === 'no-opinion' && error !== undefined
        ? internalError('no authorizer could decide whether this is allowed', new Error(error))
        : forbidden(target, target.name, forbiddenMessage(attributes, reason));
    return { verdict, refusal };
  }
}

/** The target of a GET, PUT or POST. Only the body names a new object. */
export function toTarget(verb: Right, { definition, namespace, name }: Subject): ResourceTarget {
  const { group, resource, version } = definition.storage;
  const isNamespace = group === '' && resource === 'namespaces';
  const own = verb === 'create' ? '' : name;
  return {
    group,
    version,
    resource,
    name: own,
    namespace: isNamespace ? own : definition.namespaced ? namespace : '',
    subresource: '',
    subpath: '',
  };
}

const MAY_NOT_GET = 'you may not get it as it was then';
