import type { CustomResourceDefinitionNames } from '../api/types/apiextensions/v1.ts';
import { equal } from '../object/equality.ts';
import type { Revision } from '../storage/revision.ts';

/**
 * Which definition of a group has which name (Kubernetes: apiextensions-apiserver, pkg/controller/status).
 *
 * Every server decides by itself, from what it has of the log, and stores a decision only if the definition still is at the
 * revision that the decision was made for. Two servers can never give one name away twice, because definitions that want something
 * have their turn in the order of their revisions, and one that is behind another goes without what that one wants. Were x given
 * a name because it is before y, and y the same name because it is before x, then one of them has changed between the two decisions;
 * it is at a newer revision now, which is behind the other, or it was stored under a condition that no longer holds.
 */

/** A definition, as far as names go. */
export interface Claim {
  readonly name: string;
  readonly revision: Revision;
  readonly wanted: CustomResourceDefinitionNames;
  readonly accepted: CustomResourceDefinitionNames;
  /** It keeps the names that it has until it is gone, and gets no others. */
  readonly isEnding: boolean;
}

export interface NameConflict {
  readonly reason: `${'Plural' | 'Singular' | 'ShortNames' | 'Kind' | 'ListKind'}Conflict`;
  readonly message: string;
}

export interface NameDecision {
  readonly accepted: CustomResourceDefinitionNames;
  /** The last one, where there are several. */
  readonly conflict?: NameConflict;
}

/** Names of built-in resources of the group. They are never free. */
export interface ReservedNames {
  readonly resources: readonly string[];
  readonly kinds: readonly string[];
}

/** By name of the definition. All definitions of the group are needed, also those that have what they want. */
export function decideNames(
  claims: readonly Claim[],
  reserved: ReservedNames = { resources: [], kinds: [] },
): Map<string, NameDecision> {
  const resources = new TakenNames(reserved.resources);
  const kinds = new TakenNames(reserved.kinds);
  for (const { name, accepted } of claims) {
    resources.take(resourcesOf(accepted), name);
    kinds.take(kindsOf(accepted), name);
  }
  const decisions = new Map<string, NameDecision>();
  for (const claim of [...claims].sort(byRevision)) {
    if (claim.isEnding) continue;
    decisions.set(claim.name, decide(claim, resources, kinds));
    resources.take(resourcesOf(claim.wanted), claim.name);
    kinds.take(kindsOf(claim.wanted), claim.name);
  }
  return decisions;
}

const byRevision = (a: Claim, b: Claim): number =>
  a.revision < b.revision ? -1 : a.revision > b.revision ? 1 : 0;

/** Each name with the definition that has it; the first to take it keeps it. '' stands for a built-in resource. */
class TakenNames {
  readonly #holders: Map<string, string>;

  constructor(reserved: readonly string[]) {
    this.#holders = new Map(reserved.map((name) => [name, '']));
  }

  take(names: readonly string[], by: string): void {
    for (const name of names) if (!this.#holders.has(name)) this.#holders.set(name, by);
  }

  isTaken(name: string, from: string): boolean {
    const holder = this.#holders.get(name);
    return holder !== undefined && holder !== from;
  }
}

function decide({ name, wanted, accepted }: Claim, resources: TakenNames, kinds: TakenNames): NameDecision {
  const decided = new Decision(wanted, accepted);
  const isTaken = (word: string): boolean => resources.isTaken(word, name);
  const isKindTaken = (word: string): boolean => kinds.isTaken(word, name);
  decided.judge('plural', 'PluralConflict', isTaken);
  decided.judge('singular', 'SingularConflict', isTaken);
  decided.judgeShortNames(isTaken);
  decided.judge('kind', 'KindConflict', isKindTaken);
  decided.judge('listKind', 'ListKindConflict', isKindTaken);
  return decided.result;
}

/** What is granted of the wanted names. Of a name that is not, the accepted one stays. */
class Decision {
  readonly #wanted: CustomResourceDefinitionNames;
  readonly #accepted: CustomResourceDefinitionNames;
  readonly #granted: CustomResourceDefinitionNames;
  #conflict: NameConflict | undefined;

  constructor(wanted: CustomResourceDefinitionNames, accepted: CustomResourceDefinitionNames) {
    this.#wanted = wanted;
    this.#accepted = accepted;
    this.#granted = structuredClone(wanted);
  }

  get result(): NameDecision {
    const conflict = this.#conflict;
    return { accepted: this.#granted, ...(conflict === undefined ? {} : { conflict }) };
  }

  judge(
    which: 'plural' | 'singular' | 'kind' | 'listKind',
    reason: NameConflict['reason'],
    isTaken: (name: string) => boolean,
  ): void {
    const wanted = this.#wanted[which] ?? '';
    const accepted = this.#accepted[which] ?? '';
    if (wanted === accepted || !isTaken(wanted)) return;
    this.#granted[which] = accepted;
    this.#conflict = { reason, message: inUse(wanted) };
  }

  /** All of them, or those that it had. */
  judgeShortNames(isTaken: (name: string) => boolean): void {
    const { shortNames: had = [] } = this.#accepted;
    const taken = (this.#wanted.shortNames ?? []).filter((name) => !had.includes(name) && isTaken(name));
    if (taken.length === 0) return;
    if (had.length === 0) delete this.#granted.shortNames;
    else this.#granted.shortNames = [...had];
    const messages = [...new Set(taken.map(inUse))];
    const [only = ''] = messages;
    const message = messages.length === 1 ? only : `[${messages.join(', ')}]`;
    this.#conflict = { reason: 'ShortNamesConflict', message };
  }
}

const inUse = (name: string): string => `${JSON.stringify(name)} is already in use`;

const resourcesOf = ({
  plural = '',
  singular = '',
  shortNames = [],
}: CustomResourceDefinitionNames): string[] =>
  [plural, singular, ...shortNames].filter((name) => name !== '');

const kindsOf = ({ kind = '', listKind = '' }: CustomResourceDefinitionNames): string[] =>
  [kind, listKind].filter((name) => name !== '');

/** Lists that are empty and lists that are absent are the same. */
export const sameNames = (a: CustomResourceDefinitionNames, b: CustomResourceDefinitionNames): boolean =>
  equal(normalized(a), normalized(b));

const normalized = (names: CustomResourceDefinitionNames): unknown[] => {
  const { plural = '', singular = '', kind = '', listKind = '', shortNames = [], categories = [] } = names;
  return [plural, singular, kind, listKind, shortNames, categories];
};
