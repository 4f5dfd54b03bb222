import type { JsonValue } from '../api/object-meta.ts';
import { isInt64 } from './exact-json.ts';
import { goTypeOf } from './go-value.ts';
import { type Action, JsonPathError, type SliceBounds, type Step } from './json-path-syntax.ts';
import { isObject } from './json-values.ts';

/**
 * Limits the values that a walk visits. A recursive descent in an object of 3 MB visits 300,000 values, and `.*.*` each of them
 * many times.
 */
export class JsonPathBudget {
  #left: number;

  constructor(values: number) {
    this.#left = values;
  }

  /** @throws JsonPathError */
  take(values: number): void {
    this.#left -= values;
    if (this.#left < 0) throw new JsonPathError('the path selects too many values');
  }
}

const MAX_VALUES = 50_000;

/** An error of one step, with the values selected before it, which are the result of a filter for existence. */
class StepError extends JsonPathError {
  readonly selected: readonly JsonValue[];

  constructor(message: string, selected: readonly JsonValue[]) {
    super(message);
    this.selected = selected;
  }
}

/** Evaluates actions on a value, as client-go's util/jsonpath/jsonpath.go does on objects without a Go type. */
export class JsonPathWalk {
  readonly #root: JsonValue;
  readonly #budget: JsonPathBudget;

  constructor(root: JsonValue, budget: JsonPathBudget = new JsonPathBudget(MAX_VALUES)) {
    this.#root = root;
    this.#budget = budget;
  }

  /** @throws JsonPathError */
  run(action: Action, input: readonly JsonValue[] = [this.#root]): readonly JsonValue[] {
    let values = input;
    for (const step of action) {
      this.#budget.take(values.length + 1);
      values = this.#take(step, values);
    }
    return values;
  }

  #take(step: Step, input: readonly JsonValue[]): readonly JsonValue[] {
    switch (step.kind) {
      case 'text':
        return [step.text];
      case 'field':
        return fieldsOf(input, step.name);
      case 'slice':
        return this.#slice(input, step.bounds);
      case 'filter':
        return this.#filter(input, step);
      case 'integer':
      case 'float':
      case 'boolean':
        return input.map(() => step.value);
      case 'identifier':
        throw new StepError(`unrecognized identifier ${step.name}`, input);
      case 'union':
        return step.parts.flatMap((part) => this.run(part, input));
      case 'wildcard':
        return this.#contents(input);
      case 'recursive':
        return this.#descend(input);
      default:
        return step satisfies never;
    }
  }

  #slice(input: readonly JsonValue[], bounds: SliceBounds): readonly JsonValue[] {
    const selected: JsonValue[] = [];
    for (const value of input) {
      if (value === null) continue;
      if (!Array.isArray(value)) throw new StepError(`${goTypeOf(value)} is not array or slice`, input);
      const { from, to } = resolveBounds(bounds, value.length);
      // Client-go ends here, without reading other values.
      if (from === to) return selected;
      const problem = boundsProblem(from, to, value.length);
      if (problem !== undefined) throw new StepError(problem, input);
      const { step = 1 } = bounds;
      if (step <= 0) throw new StepError('step must be > 0', input);
      this.#budget.take(to - from);
      for (let at = from; at < to; at += step) selected.push(value[at] ?? null);
    }
    return selected;
  }

  #contents(input: readonly JsonValue[]): readonly JsonValue[] {
    const selected: JsonValue[] = [];
    for (const value of input) {
      const contents = contentsOf(value);
      this.#budget.take(contents.length);
      for (const one of contents) selected.push(one);
    }
    return selected;
  }

  /** Selects all values with parts, each before its parts. */
  #descend(input: readonly JsonValue[]): readonly JsonValue[] {
    const selected: JsonValue[] = [];
    const ahead = [...input].reverse();
    for (let value = ahead.pop(); value !== undefined; value = ahead.pop()) {
      const contents = contentsOf(value);
      const hasContents = contents.length > 0 || (typeof value === 'string' && value !== '');
      if (hasContents) selected.push(value);
      this.#budget.take(contents.length + 1);
      for (let at = contents.length - 1; at >= 0; at -= 1) ahead.push(contents[at] ?? null);
    }
    return selected;
  }

  #filter(
    input: readonly JsonValue[],
    filter: Extract<Step, { readonly kind: 'filter' }>,
  ): readonly JsonValue[] {
    const selected: JsonValue[] = [];
    for (const value of input) {
      if (!Array.isArray(value))
        throw new StepError(`${goTypeOf(value)} is not array or slice and cannot be filtered`, input);
      for (const item of value) {
        this.#budget.take(1);
        if (this.#passes(item, filter, input)) selected.push(item);
      }
    }
    return selected;
  }

  #passes(
    item: JsonValue,
    { left, operator, right }: Extract<Step, { readonly kind: 'filter' }>,
    input: readonly JsonValue[],
  ): boolean {
    if (operator === 'exists') return this.#exists(item, left);
    const first = this.#single(left, item, input);
    if (first === undefined) return false;
    const second = this.#single(right, item, input);
    if (second === undefined) return false;
    return compare(first, operator, second);
  }

  #exists(item: JsonValue, path: Action): boolean {
    try {
      return this.run(path, [item]).length > 0;
    } catch (error) {
      if (error instanceof StepError) return error.selected.length > 0;
      throw error;
    }
  }

  #single(action: Action, item: JsonValue, input: readonly JsonValue[]): Operand | undefined {
    const [value, ...others] = this.run(action, [item]);
    if (others.length > 0) throw new StepError('can only compare one element at a time', input);
    if (value === undefined) return undefined;
    const isFloat = action.at(-1)?.kind === 'float';
    return { value, kind: isFloat ? 'float' : kindOf(value) };
  }
}

function fieldsOf(input: readonly JsonValue[], name: string): readonly JsonValue[] {
  const selected: JsonValue[] = [];
  for (const value of input) {
    if (isObject(value) && Object.hasOwn(value, name)) selected.push(value[name] ?? null);
  }
  return selected;
}

function contentsOf(value: JsonValue): readonly JsonValue[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value).map((one) => one ?? null) : [];
}

function resolveBounds(
  { from = 0, to, isIndex }: SliceBounds,
  length: number,
): { readonly from: number; readonly to: number } {
  const end = to ?? length;
  return {
    from: from < 0 ? from + length : from,
    // Counted from the end, the end of the last item is 0.
    to: end < 0 || (end === 0 && isIndex) ? end + length : end,
  };
}

function boundsProblem(from: number, to: number, length: number): string | undefined {
  const outside = (index: number): string => `array index out of bounds: index ${index}, length ${length}`;
  if (from >= length || from < 0) return outside(from);
  if (to > length || to < 0) return outside(to - 1);
  return from > to ? `starting index ${from} is greater than ending index ${to}` : undefined;
}

type Kind = 'boolean' | 'integer' | 'float' | 'string' | 'none';

interface Operand {
  readonly value: JsonValue;
  readonly kind: Kind;
}

/** Only values of one kind can be compared: an integer is never equal to a number with a fraction. */
function kindOf(value: JsonValue): Kind {
  switch (typeof value) {
    case 'boolean':
      return 'boolean';
    case 'string':
      return 'string';
    case 'bigint':
      return isInt64(value) ? 'integer' : 'float';
    case 'number':
      return Number.isSafeInteger(value) ? 'integer' : 'float';
    default:
      return 'none';
  }
}

/** @throws JsonPathError */
function compare(left: Operand, operator: string, right: Operand): boolean {
  const test = Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator] : undefined;
  if (test === undefined) throw new StepError(`unrecognized filter operator ${operator}`, []);
  if (left.kind === 'none' || right.kind === 'none') throw new StepError('invalid type for comparison', []);
  if (left.kind !== right.kind) throw new StepError('incompatible types for comparison', []);
  if (left.kind === 'boolean' && operator !== '==' && operator !== '!=')
    throw new StepError('invalid type for comparison', []);
  return test(orderOf(left.value, right.value));
}

const OPERATORS: Readonly<Record<string, (order: number) => boolean>> = {
  '<': (order) => order < 0,
  '>': (order) => order > 0,
  '==': (order) => order === 0,
  '!=': (order) => order !== 0,
  '<=': (order) => order <= 0,
  '>=': (order) => order >= 0,
};

/** Texts in the order of their bytes. */
function orderOf(left: JsonValue, right: JsonValue): number {
  if (left === right) return 0;
  if (typeof left === 'string' && typeof right === 'string')
    return Buffer.compare(Buffer.from(left), Buffer.from(right));
  return isNumber(left) && isNumber(right) && left < right ? -1 : 1;
}

const isNumber = (value: JsonValue): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';
