import type { UserInfo } from '../../request/api-request.ts';
import type { Followed } from '../../storage/follower.ts';
import type { Entry, ObjectEvent } from '../../storage/store.ts';
import { type Grant, GrantList } from './grants.ts';
import { type Binding, type RoleRef, roleKey, type Subject, toBinding } from './policy.ts';

type BySubject = Map<string, GrantList>;

/** Grants within one namespace, or '' for those of ClusterRoleBindings. */
interface Scope {
  readonly users: BySubject;
  readonly groups: BySubject;
}

/** Where a grant was put, to take it out again. */
interface Place {
  readonly index: BySubject;
  readonly subject: string;
  readonly grant: Grant;
}

interface Placed {
  readonly namespace: string;
  readonly places: readonly Place[];
}

/**
 * Bindings of one kind by namespace and subject, so that a decision looks at none but those of the user and its groups. A
 * service account is the user it acts as.
 */
export class BindingIndex implements Followed {
  readonly #kind: 'ClusterRoleBinding' | 'RoleBinding';
  #scopes = new Map<string, Scope>();
  #placed = new Map<string, Placed>();

  constructor(kind: 'ClusterRoleBinding' | 'RoleBinding') {
    this.#kind = kind;
  }

  replace(entries: readonly Entry[]): void {
    this.#scopes = new Map();
    this.#placed = new Map();
    for (const entry of entries) this.#add(toBinding(entry));
  }

  apply({ type, entry }: ObjectEvent): void {
    this.#remove(roleKey(entry.namespace, entry.name));
    if (type !== 'DELETED') this.#add(toBinding(entry));
  }

  /** What the user and its groups have been granted in one namespace. */
  listsOf(user: UserInfo, namespace: string): GrantList[] {
    const scope = this.#scopes.get(namespace);
    if (scope === undefined) return [];
    const lists: GrantList[] = [];
    const own = scope.users.get(user.username);
    if (own !== undefined) lists.push(own);
    for (const group of user.groups) {
      const list = scope.groups.get(group);
      if (list !== undefined) lists.push(list);
    }
    return lists;
  }

  #add(binding: Binding): void {
    const places: Place[] = [];
    for (const subject of binding.subjects) {
      const index = this.#indexFor(binding.namespace, subject.kind);
      const name = subjectName(subject, binding.namespace);
      if (index === undefined || name === undefined) continue;
      const grant = this.#toGrant(binding, subject);
      let list = index.get(name);
      if (list === undefined) {
        list = new GrantList();
        index.set(name, list);
      }
      list.add(grant);
      places.push({ index, subject: name, grant });
    }
    this.#placed.set(roleKey(binding.namespace, binding.name), { namespace: binding.namespace, places });
  }

  #remove(key: string): void {
    const { namespace = '', places = [] } = this.#placed.get(key) ?? {};
    for (const { index, subject, grant } of places) {
      if (index.get(subject)?.delete(grant) === true) index.delete(subject);
    }
    this.#placed.delete(key);
    const scope = this.#scopes.get(namespace);
    if (scope?.users.size === 0 && scope.groups.size === 0) this.#scopes.delete(namespace);
  }

  #indexFor(namespace: string, kind: string): BySubject | undefined {
    let scope = this.#scopes.get(namespace);
    if (scope === undefined) {
      scope = { users: new Map(), groups: new Map() };
      this.#scopes.set(namespace, scope);
    }
    if (kind === 'Group') return scope.groups;
    return kind === 'User' || kind === 'ServiceAccount' ? scope.users : undefined;
  }

  #toGrant({ name, namespace, roleRef }: Binding, subject: Subject): Grant {
    const binding = JSON.stringify(namespace === '' ? name : `${name}/${namespace}`);
    const role = `${roleRef.kind} ${JSON.stringify(roleRef.name)}`;
    return {
      roleRef,
      roleKey: keyOf(roleRef, namespace),
      source: `${this.#kind} ${binding} of ${role} to ${describe(subject, namespace)}`,
    };
  }
}

/** Where the role of a binding is found; undefined for a kind that there is not. A ClusterRoleBinding binds no Role. */
export function keyOf({ kind, name }: RoleRef, bindingNamespace: string): string | undefined {
  if (kind === 'ClusterRole') return roleKey('', name);
  return kind === 'Role' && bindingNamespace !== '' ? roleKey(bindingNamespace, name) : undefined;
}

/** Undefined: a service account without a namespace, which nobody is. */
function subjectName({ kind, name, namespace = '' }: Subject, bindingNamespace: string): string | undefined {
  if (kind !== 'ServiceAccount') return name;
  const home = namespace === '' ? bindingNamespace : namespace;
  return home === '' ? undefined : `system:serviceaccount:${home}:${name}`;
}

function describe({ kind, name, namespace = '' }: Subject, bindingNamespace: string): string {
  if (kind !== 'ServiceAccount') return `${kind} ${JSON.stringify(name)}`;
  return `${kind} ${JSON.stringify(`${name}/${namespace === '' ? bindingNamespace : namespace}`)}`;
}
