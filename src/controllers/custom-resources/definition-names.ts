import type { CustomResourceDefinitionNames } from '../../api/types/apiextensions/v1.ts';
import { equal } from '../../object/equality.ts';
import type { Revision } from '../../storage/revision.ts';

/**
 * Decides which definition of a group has which name (Kubernetes: apiextensions-apiserver, pkg/controller/status).
 *
 * Every server decides from its own view of the log, and stores a decision only if the definition is still at the revision that
 * the decision was made for. Two servers never grant one name twice: definitions with pending names are decided in the order of
 * their revisions, and a later one does not get what an earlier one wants. If x got a name because it is before y, and y the
 * same name because it is before x, then one of them has changed between the two decisions; it is at a newer revision now,
 * behind the other, or the condition of its write no longer holds.
 */

/** The names of a definition. */
export interface Claim {
  readonly name: string;
  readonly revision: Revision;
  readonly wanted: CustomResourceDefinitionNames;
  readonly accepted: CustomResourceDefinitionNames;
  /** The definition keeps its names until it is gone, and gets no others. */
  readonly isEnding: boolean;
}

interface NameConflict {
  readonly reason: `${'Plural' | 'Singular' | 'ShortNames' | 'Kind' | 'ListKind'}Conflict`;
  readonly message: string;
}

export interface NameDecision {
  readonly accepted: CustomResourceDefinitionNames;
  /** The last conflict, where there are several. */
  readonly conflict?: NameConflict;
}

/** Names of built-in resources of the group. They are never free. */
export interface ReservedNames {
  readonly resources: readonly string[];
  readonly kinds: readonly string[];
}

/** Decides the names of a group. `claims` must include all its definitions. Returns decisions by name of the definition. */
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

/** The granted names. A refused name leaves the accepted one in place. */
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

  /** Accepts all short names, or keeps the accepted ones. */
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

/** Treats empty and absent lists as equal. */
export const sameNames = (a: CustomResourceDefinitionNames, b: CustomResourceDefinitionNames): boolean =>
  equal(normalized(a), normalized(b));

const normalized = (names: CustomResourceDefinitionNames): unknown[] => {
  const { plural = '', singular = '', kind = '', listKind = '', shortNames = [], categories = [] } = names;
  return [plural, singular, kind, listKind, shortNames, categories];
};
