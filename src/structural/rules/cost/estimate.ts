import type { CheckedNode } from '../../../cel/library-internals.ts';
import { OPTIONAL_ENTRY } from '../../../cel/written-maps.ts';
import { isNode } from '../syntax.ts';
import { costOfCall, costOfSorting, isNamespace } from './functions.ts';
import { type Operand, partsOf, type SizedType, type SizedValue, Sizes, writtenSize } from './operand.ts';
import { costOfOperator } from './operators.ts';
import { Path } from './path.ts';
import { add, either, exactly, multiply, NOTHING, ONE, type Range, sum } from './range.ts';

/** Estimates the highest cost of a checked expression (cel-go, checker/cost.go), by the sizes that the type of its value allows. */
export function estimateCost(tree: CheckedNode, type: SizedType): number {
  return estimateCostOf(tree, { type });
}

/** The same for a value that one variable has, beside others. */
export function estimateCostOf(tree: CheckedNode, root: SizedValue): number {
  return new Coster(root).operand(tree).cost.max;
}

const LIST = exactly(10);
const MAP = exactly(30);

/** The path of a macro's variable, which each use of it makes anew; none where its range has no type. */
type Variable = readonly [name: string, path: (() => Path) | undefined];
type Paths = ReadonlyMap<string, Variable[1]>;

class Coster {
  readonly #sizes: Sizes;
  #variables: Paths = new Map();

  constructor(root: SizedValue) {
    this.#sizes = new Sizes(root);
  }

  operand(node: CheckedNode): Operand {
    switch (node.op) {
      case 'value':
        return this.#operand(node, NOTHING);
      case 'id':
        return this.#identifier(node);
      case '.':
        return this.#select(node);
      case '[]':
        return this.#index(node);
      case '.?':
      case '[?]':
        return this.#operand(node, add(ONE, this.#costOfParts(node)));
      case 'list':
        return this.#operand(node, add(LIST, this.#costOfParts(node)));
      case 'map':
        return this.#operand(node, add(MAP, this.#costOfParts(node)));
      case OPTIONAL_ENTRY:
        return this.#operand(node, this.#costOfParts(node));
      case 'call':
      case 'rcall':
        return this.#call(node);
      case '-_':
        // The sign belongs to a literal number.
        if (isNode(node.args) && node.args.op === 'value') return this.#operand(node, NOTHING, ONE);
        return this.#operand(node, add(ONE, this.#costOfParts(node)));
      default: {
        const { cost, size } = costOfOperator(node.op, this.#operands(node.args), this.#sizes);
        return this.#operand(node, cost, size);
      }
    }
  }

  #operand(node: CheckedNode, cost: Range, size = writtenSize(node), path?: Path): Operand {
    return { node, type: node.checkedType, cost, size, path };
  }

  #operands(args: unknown): Operand[] {
    return partsOf(args).map((part) => this.operand(part));
  }

  #costOfParts(node: CheckedNode): Range {
    return sum(this.#operands(node.args).map(({ cost }) => cost));
  }

  #identifier(node: CheckedNode): Operand {
    const name = String(node.args);
    const path = this.#variables.has(name) ? this.#variables.get(name)?.() : Path.of(name);
    return this.#operand(node, ONE, undefined, path);
  }

  #select(node: CheckedNode): Operand {
    if (isTypeName(node) && !this.#variables.has('net'))
      return this.#operand(node, ONE, undefined, Path.of('type'));
    const [operand] = this.#operands(node.args);
    if (operand === undefined) return this.#operand(node, ONE);
    const isField = operand.type?.kind === 'map' || operand.type?.kind === 'message';
    const field = Array.isArray(node.args) ? String(node.args[1]) : '';
    const cost = isField ? add(operand.cost, ONE) : operand.cost;
    return this.#operand(node, cost, undefined, (operand.path ?? Path.NONE).with(field));
  }

  #index(node: CheckedNode): Operand {
    const [operand, index] = this.#operands(node.args);
    const step = operand?.type?.kind === 'list' ? '@items' : '@values';
    const cost = sum([ONE, operand?.cost ?? NOTHING, index?.cost ?? NOTHING]);
    return this.#operand(node, cost, undefined, (operand?.path ?? Path.NONE).with(step));
  }

  #call(node: CheckedNode): Operand {
    const given: readonly unknown[] = Array.isArray(node.args) ? node.args : [];
    const name = String(given[0]);
    const [receiver, args] = node.op === 'rcall' ? [given[1], given[2]] : [undefined, given[1]];
    const nodes = partsOf(args);
    const isMacro = node.meta.alternate !== undefined || node.meta.macro !== undefined;
    if (isMacro) {
      const macro = this.#macro(name, isNode(receiver) ? (receiver as CheckedNode) : undefined, nodes);
      if (macro !== undefined) return this.#operand(node, macro.cost, macro.size);
    }
    // The target comes last, as in cel-go: the order shows in shared paths.
    const operands = nodes.map((one) => this.operand(one));
    const target = isNode(receiver) ? this.operand(receiver as CheckedNode) : undefined;
    const { cost, size } = costOfCall({ name, target, args: operands, sizes: this.#sizes });
    const before = target === undefined || isNamespace(target) ? NOTHING : target.cost;
    return this.#operand(node, sum([cost, before, ...operands.map((part) => part.cost)]), size);
  }

  /** Undefined: the macro costs what a function would. */
  #macro(name: string, range: CheckedNode | undefined, args: readonly CheckedNode[]): Macro | undefined {
    const [first, second, third] = args;
    if (first === undefined) return undefined;
    if (range === undefined) return { cost: sum(this.#presence(first)) };
    if (second === undefined) return undefined;
    if (name === 'optMap' || name === 'optFlatMap') return this.#optional(name, range, first, second);
    if (name === 'bind' && third !== undefined) return this.#binding(first, second, third);
    if (name === 'sortBy') return this.#sorting(range, first, second);
    const isPaired = third !== undefined && PAIRED.has(name);
    if (isPaired) return this.#loop(name, range, [first, second], args.slice(2));
    return this.#loop(name, range, [first], args.slice(1));
  }

  /** `cel.bind(x, value, body)` is a loop over an empty list, and `x` is the value. */
  #binding(variable: CheckedNode, value: CheckedNode, body: CheckedNode): Macro {
    const bound = this.operand(value);
    const path = bound.path === undefined ? undefined : () => bound.path?.copy() ?? Path.NONE;
    const result = this.#with([[String(variable.args), path]], () => this.operand(body));
    const cost = sum([LIST, bound.cost, result.cost]);
    return { cost, ...(result.size === undefined ? {} : { size: result.size }) };
  }

  /** The keys are made as by `map`, once the list has a name. */
  #sorting(list: CheckedNode, variable: CheckedNode, key: CheckedNode): Macro | undefined {
    const mapped = this.#loop('map', list, [variable], [key]);
    if (mapped === undefined) return undefined;
    const size = mapped.size ?? NOTHING;
    const sorted = costOfSorting(size, key.checkedType?.name);
    return { cost: sum([mapped.cost, LIST, ONE, ONE, sorted]), size: multiply(size, size) };
  }

  /** `has(a.b)`: costs its operand only. */
  #presence({ args }: CheckedNode): Range[] {
    return partsOf(args).map((part) => this.operand(part).cost);
  }

  #loop(
    name: string,
    over: CheckedNode,
    variables: readonly CheckedNode[],
    args: readonly CheckedNode[],
  ): Macro | undefined {
    const shape = LOOPS[name];
    if (shape === undefined) return undefined;
    const range = this.operand(over);
    const stepsOf = variables.length > 1 ? PAIR_STEPS : STEPS;
    const paths = variables.map(({ args: variable }, at): Variable => {
      const step = stepsOf[range.type?.kind ?? '']?.[at];
      const path = step === undefined ? undefined : () => (range.path ?? Path.NONE).with(step);
      return [String(variable), path];
    });
    const steps = this.#with(paths, () => args.map((arg) => this.operand(arg).cost));
    const size = this.#sizes.ofValue(range);
    const { before, each, after } = shape;
    return { cost: sum([range.cost, exactly(before), multiply(size, each(steps)), exactly(after)]), size };
  }

  /** `x.optMap(v, f)` is `x.hasValue() ? optional.of(f(x.value())) : optional.none()`. */
  #optional(macro: string, over: CheckedNode, variable: CheckedNode, body: CheckedNode): Macro {
    const target = this.operand(over).cost;
    const name = String(variable.args);
    const result = this.#with([[name, () => Path.of(name)]], () => this.operand(body).cost);
    const wrapped = macro === 'optMap' ? ONE : NOTHING;
    const present = sum([LIST, target, ONE, result, wrapped]);
    return { cost: sum([target, ONE, either(present, ONE)]) };
  }

  #with<Result>(variables: readonly Variable[], run: () => Result): Result {
    const outer = this.#variables;
    this.#variables = new Map([...outer, ...variables]);
    const result = run();
    this.#variables = outer;
    return result;
  }
}

/** `net.IP`: the dots belong to the name. */
function isTypeName({ args }: CheckedNode): boolean {
  const [inner] = partsOf(args);
  return inner?.op === 'id' && inner.args === 'net';
}

interface Macro {
  readonly cost: Range;
  readonly size?: Range;
}

/** Where the variables of a loop come from. The index of a list comes from nowhere. */
const STEPS: Readonly<Record<string, readonly string[]>> = { list: ['@items'], map: ['@keys'] };
const PAIR_STEPS: Readonly<Record<string, readonly (string | undefined)[]>> = {
  list: [undefined, '@items'],
  map: ['@keys', '@values'],
};

/** Loops that may have two variables. */
const PAIRED: ReadonlySet<string> = new Set(
  'all exists exists_one existsOne transformList transformMap transformMapEntry'.split(' '),
);

/** The operations of a macro's loop besides its arguments: before, per item, and after it. */
interface Loop {
  readonly before: number;
  each(steps: readonly Range[]): Range;
  readonly after: number;
}

const first = (steps: readonly Range[]): Range => steps[0] ?? NOTHING;
/** `result && predicate` may short-circuit. */
const predicate =
  (condition: number) =>
  (steps: readonly Range[]): Range => ({ min: condition + 1, max: condition + 1 + first(steps).max });

/** `condition ? result + transform : result`; `around`: what the step costs besides. */
const transforming =
  (around: number) =>
  (steps: readonly Range[]): Range => {
    const [condition = NOTHING, transform] = steps;
    if (transform === undefined) return add(condition, exactly(around));
    return add(condition, either(ONE, add(transform, exactly(around))));
  };

const EXISTS_ONE: Loop = { before: 0, each: (steps) => add(first(steps), { min: 1, max: 2 }), after: 2 };

const LOOPS: Readonly<Record<string, Loop>> = {
  all: { before: 0, each: predicate(2), after: 1 },
  exists: { before: 0, each: predicate(3), after: 1 },
  exists_one: EXISTS_ONE,
  existsOne: EXISTS_ONE,
  filter: { before: 10, each: (steps) => add(first(steps), { min: 1, max: 13 }), after: 1 },
  map: { before: 10, each: transforming(12), after: 1 },
  transformList: { before: 10, each: transforming(12), after: 1 },
  transformMap: { before: 30, each: transforming(3), after: 1 },
  transformMapEntry: { before: 30, each: transforming(2), after: 1 },
};
