import type { Followed } from '../../storage/follower.ts';
import type { Entry, ObjectEvent } from '../../storage/store.ts';
import { getOrAdd } from '../../util/get-or-add.ts';
import { type PolicyRule, type Question, roleKey, ruleAllows, toRole } from './role-rules.ts';

interface IndexedRole {
  readonly rules: readonly PolicyRule[];
  readonly table: RuleTable<true>;
}

/** Roles and ClusterRoles by {@link roleKey}; their keys never collide. */
export class RoleIndex {
  readonly #roles = new Map<string, IndexedRole>();
  readonly roles: Followed = this.#part((key) => !key.startsWith('\0'));
  readonly clusterRoles: Followed = this.#part((key) => key.startsWith('\0'));
  /** Rises with every change. A value made from roles is valid while this number stays the same. */
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

interface Row<T> {
  readonly rule: PolicyRule;
  readonly owner: T;
}

/**
 * Rules by the resource that they name, so that a question is compared with few rules: common roles have a hundred resources and
 * a question has one. `owner` is the value that a found rule stands for.
 */
export class RuleTable<T> {
  readonly #byResource = new Map<string, Row<T>[]>();
  readonly #urls: Row<T>[] = [];

  add(rules: readonly PolicyRule[], owner: T): void {
    for (const rule of rules) {
      const row = { rule, owner };
      for (const resource of rule.resources ?? []) getOrAdd(this.#byResource, resource, () => []).push(row);
      if (rule.nonResourceURLs !== undefined && rule.nonResourceURLs.length > 0) this.#urls.push(row);
    }
  }

  /** The owner of a rule that allows the question; undefined when none does. */
  find(question: Question): T | undefined {
    if (question.kind === 'path') return findIn(this.#urls, question);
    const owner =
      findIn(this.#byResource.get(question.resource), question) ??
      findIn(this.#byResource.get('*'), question);
    if (owner !== undefined || question.anySubresource === '') return owner;
    return findIn(this.#byResource.get(question.anySubresource), question);
  }
}

function findIn<T>(rows: readonly Row<T>[] | undefined, question: Question): T | undefined {
  if (rows === undefined) return undefined;
  for (const { rule, owner } of rows) if (ruleAllows(rule, question)) return owner;
  return undefined;
}
