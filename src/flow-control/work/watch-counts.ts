import { parseFieldSelector, requiredValue } from '../../object/selectors.ts';
import type { ResourceTarget } from '../../request/api-request.ts';
import type { FlowRequest } from '../flow-control.ts';

/**
 * How many watches will be told of a write. Watches of the pods of one node are not counted: every node has one, a pod
 * concerns a single one of them, and which one is not known before the object is read.
 */
export class WatchCounts {
  readonly #counts = new Map<string, number>();

  /** Answers the way to forget the watch. */
  register({ target, query }: FlowRequest): () => void {
    if (target === undefined || (target.resource === 'pods' && isOfOneNode(query))) return () => {};
    const key = keyOf(target, target.namespace, target.name);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    return () => {
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left === 0) this.#counts.delete(key);
      else this.#counts.set(key, left);
    };
  }

  interestedIn(target: ResourceTarget): number {
    if (this.#counts.size === 0) return 0;
    const { namespace, name } = target;
    let count = this.#counts.get(keyOf(target, '', '')) ?? 0;
    if (namespace !== '') count += this.#counts.get(keyOf(target, namespace, '')) ?? 0;
    if (name !== '') count += this.#counts.get(keyOf(target, namespace, name)) ?? 0;
    return count;
  }
}

const keyOf = ({ group, resource }: ResourceTarget, namespace: string, name: string): string =>
  `${group}/${resource}/${namespace}/${name}`;

function isOfOneNode(query: URLSearchParams): boolean {
  const selector = query.get('fieldSelector');
  if (selector === null) return false;
  try {
    return (requiredValue(parseFieldSelector(selector), 'spec.nodeName') ?? '') !== '';
  } catch {
    // What cannot be read is answered with an error later on.
    return false;
  }
}
