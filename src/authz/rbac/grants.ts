import type { Question } from './match.ts';
import { RBAC_GROUP, type RoleRef } from './policy.ts';
import type { RoleIndex } from './role-index.ts';
import { RuleTable } from './rule-table.ts';

/** One subject of one binding. The role is looked up on use. */
export interface Grant {
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
