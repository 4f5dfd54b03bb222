import { describeFailure } from '../../cel/issues.ts';
import { type Bindings, PolicyVariables } from '../../cel/policies/compiler.ts';
import type { Compiled } from '../../cel/program.ts';
import { Pace } from '../../util/turns.ts';
import type { Rights } from './rights.ts';

/** `ms`: how long it took. */
export type Outcome = ({ readonly value: unknown } | { readonly error: string }) & { readonly ms: number };

export class BudgetError extends Error {
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

/** Runs expressions one after the other on the same variables, within one budget. */
export class Evaluation {
  readonly #rights: Rights;
  readonly #bindings: Bindings;
  readonly #variables: PolicyVariables;
  #left: number;
  readonly #pace = new Pace({ stepsBetween: 1 });

  constructor(
    given: Bindings,
    variables: ReadonlyMap<string, Compiled>,
    { rights, budget }: { rights: Rights; budget: number },
  ) {
    this.#rights = rights;
    this.#left = budget;
    this.#variables = new PolicyVariables(variables, () => this.#bindings, budget);
    this.#bindings = { ...given, variables: this.#variables };
  }

  get left(): number {
    return this.#left;
  }

  /** @throws BudgetError */
  async run(compiled: Compiled): Promise<Outcome> {
    const { program, expression } = compiled;
    if (program === undefined) return { error: `compilation error: ${compiled.problem}`, ms: 0 };
    if (this.#pace.isOver()) await this.#pace.rest();
    const begun = performance.now();
    for (;;) {
      try {
        const { result, cost } = program.run(this.#bindings);
        this.#charge(cost + this.#variables.takeCost());
        return { value: result, ms: performance.now() - begun };
      } catch (error) {
        if (error instanceof BudgetError) throw error;
        this.#charge(this.#variables.takeCost());
        if (!this.#rights.open) {
          const why = `expression '${expression}' resulted in error: ${describeFailure(error)}`;
          return { error: why, ms: performance.now() - begun };
        }
        await this.#rights.settle();
      }
    }
  }

  #charge(cost: number): void {
    if (cost > this.#left) throw new BudgetError();
    this.#left -= cost;
  }
}
