import { OutOfBudget } from '../budget.ts';
import type { Fields } from '../libraries/optionals.ts';
import type { Compiled } from '../program.ts';
import { describeFailure } from './issues.ts';

/** The input of an expression: CEL values by the names of its variables. */
export type Bindings = Readonly<Record<string, unknown>>;

/** `variables` of a policy: each is evaluated once, on first use. */
export class PolicyVariables extends Map<string, unknown> implements Fields {
  readonly #compiled: ReadonlyMap<string, Compiled>;
  readonly #bindings: () => Bindings;
  /** Cost of the variables since the last call that read it. */
  #cost = 0;

  readonly #budget: number;

  constructor(compiled: ReadonlyMap<string, Compiled>, bindings: () => Bindings, budget: number) {
    super();
    this.#compiled = compiled;
    this.#bindings = bindings;
    this.#budget = budget;
  }

  hasField(name: string): boolean {
    return this.#compiled.has(name);
  }

  takeCost(): number {
    const cost = this.#cost;
    this.#cost = 0;
    return cost;
  }

  /** @throws Error that names the variable */
  override get(name: string): unknown {
    const known = super.get(name);
    if (known !== undefined) return known;
    const compiled = this.#compiled.get(name);
    return compiled === undefined ? undefined : this.#evaluate(name, compiled);
  }

  #evaluate(name: string, compiled: Compiled): unknown {
    if (compiled.program === undefined)
      throw new Error(`composited variable ${JSON.stringify(name)} fails to compile: ${compiled.problem}`);
    if (this.#cost > this.#budget) throw new OutOfBudget();
    try {
      const { result, cost } = compiled.program.run(this.#bindings());
      this.#cost += cost;
      this.set(name, result);
      return result;
    } catch (error) {
      const why = describeFailure(error);
      throw new Error(`composited variable ${JSON.stringify(name)} fails to evaluate: ${why}`);
    }
  }
}
