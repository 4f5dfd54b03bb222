import type { UserInfo } from '../../request/api-request.ts';
import type { Followed } from '../../storage/follower.ts';
import type { Entry, ObjectEvent } from '../../storage/store.ts';
import { getOrAdd } from '../../util/get-or-add.ts';
import { type RoleIndex, RuleTable } from './role-index.ts';
import {
  type Binding,
  type Question,
  RBAC_GROUP,
  type RoleRef,
  roleKey,
  type Subject,
  toBinding,
} from './role-rules.ts';

type BySubject = Map<string, GrantList>;

/** Grants within one namespace, or '' for those of ClusterRoleBindings. */
interface Scope {
  readonly users: BySubject;
  readonly groups: BySubject;
}

/** Where a grant is stored, for its removal. */
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
 * Bindings of one kind by namespace and subject, so that a decision visits only those of the user and its groups. A service
 * account counts as its user.
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

  /** The grants of the user and its groups in one namespace. */
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
      const list = getOrAdd(index, name, () => new GrantList());
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
    const scope = getOrAdd(this.#scopes, namespace, () => ({ users: new Map(), groups: new Map() }));
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

/** The key of a binding's role; undefined for an unknown kind. A ClusterRoleBinding cannot bind a Role. */
export function keyOf({ kind, name }: RoleRef, bindingNamespace: string): string | undefined {
  if (kind === 'ClusterRole') return roleKey('', name);
  return kind === 'Role' && bindingNamespace !== '' ? roleKey(bindingNamespace, name) : undefined;
}

/** Undefined: a service account without a namespace, which matches no user. */
function subjectName({ kind, name, namespace = '' }: Subject, bindingNamespace: string): string | undefined {
  if (kind !== 'ServiceAccount') return name;
  const home = namespace === '' ? bindingNamespace : namespace;
  return home === '' ? undefined : `system:serviceaccount:${home}:${name}`;
}

function describe({ kind, name, namespace = '' }: Subject, bindingNamespace: string): string {
  if (kind !== 'ServiceAccount') return `${kind} ${JSON.stringify(name)}`;
  return `${kind} ${JSON.stringify(`${name}/${namespace === '' ? bindingNamespace : namespace}`)}`;
}

/** One subject of one binding. The role is looked up on use. */
interface Grant {
  readonly roleRef: RoleRef;
  /** Undefined: the binding refers to an unknown kind of role. */
  readonly roleKey: string | undefined;
  /** `ClusterRoleBinding "x" of ClusterRole "y" to User "u"` */
  readonly source: string;
}

/** From this many grants on, one table of all their rules pays; below, the shared tables of the roles are used. */
const OWN_TABLE_FROM = 32;

interface OwnTable {
  readonly generation: number;
  readonly table: RuleTable<Grant>;
  readonly missing: readonly RoleRef[];
}

/** The grants of one subject in one namespace. */
export class GrantList {
  readonly #grants = new Set<Grant>();
  #own: OwnTable | undefined;

  add(grant: Grant): void {
    this.#grants.add(grant);
    this.#own = undefined;
  }

  /** Returns true when the list is empty afterwards. */
  delete(grant: Grant): boolean {
    this.#grants.delete(grant);
    this.#own = undefined;
    return this.#grants.size === 0;
  }

  [Symbol.iterator](): Iterator<Grant> {
    return this.#grants[Symbol.iterator]();
  }

  /** A grant that allows the question; undefined for none. */
  find(question: Question, roles: RoleIndex): Grant | undefined {
    if (this.#grants.size >= OWN_TABLE_FROM) return this.#ownTable(roles).table.find(question);
    for (const grant of this.#grants) {
      if (roles.get(grant.roleKey)?.table.find(question) === true) return grant;
    }
    return undefined;
  }

  /** The referenced roles that do not exist. */
  missing(roles: RoleIndex): readonly RoleRef[] {
    if (this.#grants.size >= OWN_TABLE_FROM) return this.#ownTable(roles).missing;
    const missing: RoleRef[] = [];
    for (const grant of this.#grants) if (roles.get(grant.roleKey) === undefined) missing.push(grant.roleRef);
    return missing;
  }

  #ownTable(roles: RoleIndex): OwnTable {
    if (this.#own?.generation === roles.generation) return this.#own;
    const table = new RuleTable<Grant>();
    const missing: RoleRef[] = [];
    for (const grant of this.#grants) {
      const role = roles.get(grant.roleKey);
      if (role === undefined) missing.push(grant.roleRef);
      else table.add(role.rules, grant);
    }
    this.#own = { generation: roles.generation, table, missing };
    return this.#own;
  }
}

/** Why a grant has no effect, in Kubernetes' words. */
export function missingRole({ kind, name }: RoleRef): string {
  if (kind !== 'Role' && kind !== 'ClusterRole') {
    return `unsupported role reference kind: ${JSON.stringify(kind)}`;
  }
  return `${kind.toLowerCase()}.${RBAC_GROUP} ${JSON.stringify(name)} not found`;
}
