import { getOrAdd } from '../../util/get-or-add.ts';
import type { Scope } from '../key.ts';
import type { Revision } from '../revision.ts';
import type { SoughtValue } from '../store.ts';
import type { AppliedChange } from './applied-change.ts';
import { valueIn } from './value-index.ts';

/** Receives the changes within its scope (watcher.ts). */
export interface ChangeListener {
  readonly scope: Scope;
  /** Changes of objects without this value, before and after, need not be offered. */
  readonly sought?: SoughtValue | undefined;
  /** Receives a change, with the states before and after it. */
  offer(change: AppliedChange): void;
  /** Reports a change to read from history. All changes up to `before` were delivered or out of scope. */
  notice(before: Revision): void;
}

/**
 * The listeners of one resource by scope, and by the value that they seek: of a thousand that watch one object each, or the pods of
 * one node each, a change calls one.
 */
export class Listeners {
  readonly #everywhere = new Audience();
  readonly #byNamespace = new Map<string, Audience>();
  readonly #byName = new Map<string, Audience>();

  get count(): number {
    let count = this.#everywhere.size;
    for (const audience of this.#byNamespace.values()) count += audience.size;
    for (const audience of this.#byName.values()) count += audience.size;
    return count;
  }

  add(listener: ChangeListener): void {
    this.#audienceOf(listener.scope).add(listener);
  }

  remove(listener: ChangeListener): void {
    const { namespace, name } = listener.scope;
    const audience = this.#audienceOf(listener.scope);
    audience.remove(listener);
    if (audience.size > 0 || audience === this.#everywhere) return;
    if (name === undefined) this.#byNamespace.delete(namespace ?? '');
    else this.#byName.delete(toNameKey(listener.scope));
  }

  /** Calls the listeners whose scope contains the object and, where the change is given, whose value it may have. */
  tell(
    { namespace, name }: { readonly namespace: string; readonly name: string },
    call: (listener: ChangeListener) => void,
    change?: AppliedChange,
  ): void {
    this.#everywhere.tell(call, change);
    this.#byNamespace.get(namespace)?.tell(call, change);
    this.#byName.get(toNameKey({ namespace, name }))?.tell(call, change);
    if (namespace === '') return;
    this.#byName.get(toNameKey({ name }))?.tell(call, change);
  }

  #audienceOf(scope: Scope): Audience {
    const { namespace, name } = scope;
    if (name !== undefined) return getOrAdd(this.#byName, toNameKey(scope), newAudience);
    return namespace === undefined ? this.#everywhere : getOrAdd(this.#byNamespace, namespace, newAudience);
  }
}

/** The listeners of one scope. */
class Audience {
  readonly #all = new Set<ChangeListener>();
  readonly #seeking = new Map<string, Seeking>();
  size = 0;

  add(listener: ChangeListener): void {
    const set = this.#setFor(listener);
    if (!set.has(listener)) this.size += 1;
    set.add(listener);
  }

  remove(listener: ChangeListener): void {
    const set = this.#setFor(listener);
    if (set.delete(listener)) this.size -= 1;
    if (listener.sought === undefined || set.size > 0) return;
    const key = toSeekingKey(listener.sought);
    const listeners = this.#seeking.get(key)?.byValue;
    listeners?.delete(listener.sought.value);
    if (listeners?.size === 0) this.#seeking.delete(key);
  }

  tell(call: (listener: ChangeListener) => void, change: AppliedChange | undefined): void {
    for (const listener of this.#all) call(listener);
    for (const { of, byValue } of this.#seeking.values()) {
      if (change === undefined) {
        for (const listeners of byValue.values()) for (const listener of listeners) call(listener);
        continue;
      }
      const is = change.entry === undefined ? undefined : valueIn(change.entry, of);
      const was = change.previous === undefined ? undefined : valueIn(change.previous, of);
      for (const listener of byValue.get(is ?? '') ?? []) call(listener);
      if (was !== is) for (const listener of byValue.get(was ?? '') ?? []) call(listener);
    }
  }

  #setFor({ sought }: ChangeListener): Set<ChangeListener> {
    if (sought === undefined) return this.#all;
    const key = toSeekingKey(sought);
    const seeking = getOrAdd(this.#seeking, key, () => ({ of: sought, byValue: new Map() }));
    return getOrAdd(seeking.byValue, sought.value, () => new Set());
  }
}

const newAudience = (): Audience => new Audience();

/** Listeners that seek a value of the same field or label. No value is ''. */
interface Seeking {
  readonly of: Pick<SoughtValue, 'of' | 'name'>;
  readonly byValue: Map<string, Set<ChangeListener>>;
}

const toSeekingKey = ({ of, name }: SoughtValue): string => `${of} ${name}`;

/** Without a namespace, the key stands for the name in any, and for cluster-scoped objects. */
const toNameKey = ({ namespace, name }: Scope): string => `${namespace ?? ''}\0${name ?? ''}`;
