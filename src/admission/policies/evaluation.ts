import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Compiled } from '../../cel/policies/compiled.ts';
import { describeFailure } from '../../cel/policies/issues.ts';
import { type Bindings, PolicyVariables } from '../../cel/policies/variables.ts';
import type { Rights } from './rights.ts';

/** All expressions of one kind, of one policy for one binding (Kubernetes: apis/cel, RuntimeCELCostBudget). */
export const BUDGET = 10_000_000;
export const CONDITIONS_BUDGET = 2_500_000;

/** Others get a turn when expressions have run for so long. */
const TURN_MS = 10;

export type Outcome = { readonly value: unknown } | { readonly error: string };

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
  #since = performance.now();

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
    if (compiled.program === undefined) return { error: `compilation error: ${compiled.problem}` };
    if (performance.now() - this.#since > TURN_MS) {
      await nextTurn();
      this.#since = performance.now();
    }
    for (;;) {
      try {
        const { result, cost } = compiled.program.run(this.#bindings);
        this.#charge(cost + this.#variables.takeCost());
        return { value: result };
      } catch (error) {
        if (error instanceof BudgetError) throw error;
        this.#charge(this.#variables.takeCost());
        if (!this.#rights.open)
          return {
            error: `expression '${compiled.expression}' resulted in error: ${describeFailure(error)}`,
          };
        await this.#rights.settle();
      }
    }
  }

  #charge(cost: number): void {
    if (cost > this.#left) throw new BudgetError();
    this.#left -= cost;
  }
}
