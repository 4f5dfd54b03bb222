/** What became of an object. */
export type Outcome = 'created' | 'updated' | 'replaced' | 'deleted' | 'same';

const EXAMPLES = 3;

/** Names: while a source is followed, an object comes again and again. */
type Reasons = Map<string, Set<string>>;

/** Report counts what became of each object, and says what was not taken and why. */
export class Report {
  readonly #counts = new Map<Outcome, number>();
  readonly #left: Reasons = new Map();
  readonly #refused: Reasons = new Map();
  readonly #orphans: string[] = [];
  readonly #notes: string[] = [];

  count(outcome: Outcome): void {
    this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + 1);
  }

  /** An object that belongs to the source alone. */
  leave(name: string, reason: string): void {
    addTo(this.#left, name, reason);
  }

  /** An object that should be in the target. */
  refuse(name: string, reason: string): void {
    addTo(this.#refused, name, reason);
  }

  orphan(name: string): void {
    this.#orphans.push(name);
  }

  note(line: string): void {
    this.#notes.push(line);
  }

  /** How many objects should be in the target and are not. */
  get refused(): number {
    return [...this.#refused.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /**
   *     created 4,812, same 3
   *     not taken: configmaps shop/kube-root-ca.crt, … (12): each cluster has its own
   */
  lines(isDryRun: boolean): string[] {
    const counts = [...this.#counts].map(([outcome, count]) => `${outcome} ${count.toLocaleString('en-US')}`);
    const all = counts.length === 0 ? 'nothing to take' : counts.join(', ');
    const orphans =
      this.#orphans.length === 0
        ? []
        : [
            `their owners are not in the source, so that the garbage collector will remove them: ${nameSome(this.#orphans)}`,
          ];
    return [
      isDryRun ? `a dry run, which writes nothing; it would have: ${all}` : all,
      ...this.#notes,
      ...[...this.#left, ...this.#refused].map(
        ([reason, names]) => `not taken: ${nameSome([...names])}: ${reason}`,
      ),
      ...orphans,
    ];
  }
}

/** `a, b, c, … (12)` */
export const nameSome = (names: readonly string[]): string =>
  `${names.slice(0, EXAMPLES).join(', ')}${names.length > EXAMPLES ? `, … (${names.length})` : ''}`;

function addTo(reasons: Reasons, name: string, reason: string): void {
  reasons.set(reason, (reasons.get(reason) ?? new Set()).add(name));
}
