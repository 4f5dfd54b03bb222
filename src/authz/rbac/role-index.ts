import type { Followed } from '../../storage/follower.ts';
import type { Entry, ObjectEvent } from '../../storage/store.ts';
import { type PolicyRule, roleKey, toRole } from './policy.ts';
import { RuleTable } from './rule-table.ts';

export interface IndexedRole {
  readonly rules: readonly PolicyRule[];
  readonly table: RuleTable<true>;
}

/** Roles and ClusterRoles by {@link roleKey}; the one never has the key of the other. */
export class RoleIndex {
  readonly #roles = new Map<string, IndexedRole>();
  readonly roles: Followed = this.#part((key) => !key.startsWith('\0'));
  readonly clusterRoles: Followed = this.#part((key) => key.startsWith('\0'));
  /** Rises with every change: what has been made of roles is good as long as it stays. */
  generation = 0;

  get(key: string | undefined): IndexedRole | undefined {
    return key === undefined ? undefined : this.#roles.get(key);
  }

  #part(isOwn: (key: string) => boolean): Followed {
    return {
      replace: (entries) => {
        this.generation += 1;
        for (const key of this.#roles.keys()) if (isOwn(key)) this.#roles.delete(key);
        for (const entry of entries) this.#set(entry);
      },
      apply: (event) => this.#apply(event),
    };
  }

  #apply({ type, entry }: ObjectEvent): void {
    this.generation += 1;
    if (type === 'DELETED') this.#roles.delete(roleKey(entry.namespace, entry.name));
    else this.#set(entry);
  }

  #set(entry: Entry): void {
    const { namespace, name, rules } = toRole(entry);
    const table = new RuleTable<true>();
    table.add(rules, true);
    this.#roles.set(roleKey(namespace, name), { rules, table });
  }
}
