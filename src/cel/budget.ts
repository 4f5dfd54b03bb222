/**
 * Bounds the cost of expressions, so that no expression can keep the server busy: about one for each step, and one for each ten
 * characters or items that are made or visited (Kubernetes: apis/cel, PerCallLimit). Expressions run synchronously, so one
 * counter serves all of them.
 */
export class OutOfBudget extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
    this.name = 'OutOfBudget';
  }
}

/** Limit for one expression, which Kubernetes estimates at a tenth of a second. */
export const CALL_LIMIT = 1_000_000;
const SIZE_PER_COST = 10;

let left = Number.POSITIVE_INFINITY;

/** Shared: an expression that swallows it meets it again at the next step, and making a stack trace takes longer than a step. */
const OUT_OF_BUDGET = new OutOfBudget();

/** @throws OutOfBudget */
export function spend(cost: number): void {
  left -= cost;
  if (left < 0) throw OUT_OF_BUDGET;
}

/** Charges work that grows with a size. Call it before the work. @throws OutOfBudget */
export const spendOnSize = (size: number): void => spend(Math.ceil(size / SIZE_PER_COST));

/** What the innermost run with this limit has cost so far. */
export const spent = (limit: number): number => limit - left;

export interface Spent<Result> {
  readonly result: Result;
  readonly cost: number;
}

/**
 * Runs an expression with a budget of its own. Nested runs cost the outer one nothing; the caller adds up costs.
 * @throws OutOfBudget also when the expression swallowed it, as `||` may
 */
export function withBudget<Result>(limit: number, run: () => Result): Spent<Result> {
  const outer = left;
  left = limit;
  try {
    const result = run();
    if (left < 0) throw OUT_OF_BUDGET;
    return { result, cost: limit - left };
  } catch (error) {
    throw left < 0 ? OUT_OF_BUDGET : error;
  } finally {
    left = outer;
  }
}
