import type { Scope } from '../key.ts';
import type { Revision } from '../revision.ts';
import type { AppliedChange } from './applied-change.ts';

/** Receives the changes within its scope (watcher.ts). */
export interface ChangeListener {
  readonly scope: Scope;
  /** Receives a change, with the states before and after it. */
  offer(change: AppliedChange): void;
  /** Reports a change to read from history. All changes up to `before` were delivered or out of scope. */
  notice(before: Revision): void;
}

/** The listeners of one resource by scope: of a thousand that watch one object each, a change calls one. */
export class Listeners {
  readonly #everywhere = new Set<ChangeListener>();
  readonly #byNamespace = new Map<string, Set<ChangeListener>>();
  readonly #byName = new Map<string, Set<ChangeListener>>();

  get count(): number {
    let count = this.#everywhere.size;
    for (const set of this.#byNamespace.values()) count += set.size;
    for (const set of this.#byName.values()) count += set.size;
    return count;
  }

  add(listener: ChangeListener): void {
    this.#setFor(listener.scope).add(listener);
  }

  remove(listener: ChangeListener): void {
    const { namespace, name } = listener.scope;
    const set = this.#setFor(listener.scope);
    set.delete(listener);
    if (set.size > 0 || set === this.#everywhere) return;
    if (name === undefined) this.#byNamespace.delete(namespace ?? '');
    else this.#byName.delete(toNameKey(listener.scope));
  }

  /** Calls the listeners whose scope contains the object. */
  tell(
    { namespace, name }: { readonly namespace: string; readonly name: string },
    call: (listener: ChangeListener) => void,
  ): void {
    for (const listener of this.#everywhere) call(listener);
    for (const listener of this.#byNamespace.get(namespace) ?? []) call(listener);
    for (const listener of this.#byName.get(toNameKey({ namespace, name })) ?? []) call(listener);
    if (namespace === '') return;
    for (const listener of this.#byName.get(toNameKey({ name })) ?? []) call(listener);
  }

  #setFor(scope: Scope): Set<ChangeListener> {
    if (scope.name !== undefined) return getOrAdd(this.#byName, toNameKey(scope));
    return scope.namespace === undefined ? this.#everywhere : getOrAdd(this.#byNamespace, scope.namespace);
  }
}

function getOrAdd(map: Map<string, Set<ChangeListener>>, key: string): Set<ChangeListener> {
  let set = map.get(key);
  if (set === undefined) {
    set = new Set();
    map.set(key, set);
  }
  return set;
}

/** Without a namespace, the key stands for the name in any, and for cluster-scoped objects. */
const toNameKey = ({ namespace, name }: Scope): string => `${namespace ?? ''}\0${name ?? ''}`;
