import { type Question, ruleAllows } from './match.ts';
import type { PolicyRule } from './policy.ts';

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
      for (const resource of rule.resources ?? []) {
        const rows = this.#byResource.get(resource);
        if (rows === undefined) this.#byResource.set(resource, [row]);
        else rows.push(row);
      }
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
