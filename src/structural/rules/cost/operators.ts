import type { CallCost } from './functions.ts';
import type { Operand, Sizes } from './operand.ts';
import { add, either, NOTHING, ONE, type Range, scale, sum } from './range.ts';

/** Costs of operators, including operands (cel-go, checker/cost.go). */
export function costOfOperator(operator: string, operands: readonly Operand[], sizes: Sizes): CallCost {
  const costs = operands.map(({ cost }) => cost);
  const [left, right] = operands;
  switch (operator) {
    case '&&':
    case '||':
      // The left side may short-circuit.
      return { cost: { min: costs[0]?.min ?? 0, max: sum(costs).max } };
    case '?:':
      return conditional(operands, sizes);
    case 'in':
      if (right?.type?.kind === 'map') break;
      return { cost: add(right === undefined ? ONE : sizes.ofValue(right), sum(costs)) };
    case '==':
    case '!=':
      return { cost: add(compared(left, right, sizes), sum(costs)) };
    case '<':
    case '<=':
    case '>':
    case '>=':
      if (!mayBe(TEXTS, left) || !mayBe(TEXTS, right)) break;
      return { cost: add(orOne(compared(left, right, sizes), left, right), sum(costs)) };
    case '+':
      return sumOf(left, right, costs, sizes);
  }
  return { cost: add(ONE, sum(costs)) };
}

const TEXTS: ReadonlySet<string> = new Set(['string', 'bytes']);

/** Whether an operand is of one of these types, or of any. */
const mayBe = (types: ReadonlySet<string>, operand: Operand | undefined): boolean =>
  operand?.type === undefined || operand.type.kind === 'dyn' || types.has(operand.type.name);

/** The cost for any type, if only the value determines it. */
function orOne(cost: Range, ...operands: readonly (Operand | undefined)[]): Range {
  return operands.every((operand) => operand?.type?.kind === 'dyn') ? either(cost, ONE) : cost;
}

function conditional(operands: readonly Operand[], sizes: Sizes): CallCost {
  const [condition, yes, no] = operands;
  if (condition === undefined || yes === undefined || no === undefined) return { cost: NOTHING };
  return {
    cost: add(condition.cost, either(yes.cost, no.cost)),
    size: either(sizes.ofValue(yes), sizes.ofValue(no)),
  };
}

const PER_CHARACTER = 0.1;

/** Compares up to the end of the shorter value. */
function compared(left: Operand | undefined, right: Operand | undefined, sizes: Sizes): Range {
  if (left === undefined || right === undefined) return ONE;
  const max = Math.min(sizes.ofValue(left).max, sizes.ofValue(right).max);
  return scale({ min: max > 0 ? 1 : 0, max }, PER_CHARACTER);
}

function sumOf(
  left: Operand | undefined,
  right: Operand | undefined,
  costs: readonly Range[],
  sizes: Sizes,
): CallCost {
  const operands = sum(costs);
  if (left === undefined || right === undefined) return { cost: add(ONE, operands) };
  const isList = left.type?.kind === 'list' || right.type?.kind === 'list';
  if (!isList && (!mayBe(TEXTS, left) || !mayBe(TEXTS, right))) return { cost: add(ONE, operands) };
  const size = add(sizes.ofValue(left), sizes.ofValue(right));
  if (isList) return { cost: add(ONE, operands), size };
  return { cost: add(orOne(scale(size, PER_CHARACTER), left, right), operands), size };
}
