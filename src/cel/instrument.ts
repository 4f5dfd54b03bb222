import { Optional } from '@marcbachmann/cel-js';
import { spend, spendOnSize } from './budget.ts';
import { celContains, celEqual, isMap, joinLists, keyIn, sizeOfMap } from './cel-equality.ts';
import { OWN_FUNCTIONS } from './libraries/own-functions.ts';
import type { Evaluate, Handle, SyntaxNode } from './library-internals.ts';
import { CelObject } from './objects.ts';
import { evaluateMap } from './written-maps.ts';

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && 'setMeta' in value && 'op' in value;

/** A node and every node below it, including those that macros put in place of others. */
function nodesOf(root: unknown): Set<SyntaxNode> {
  const found = new Set<SyntaxNode>();
  const seen = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    if (isNode(value)) {
      found.add(value);
      for (const part of [value.args, value.meta.alternate, value.meta.macro]) visit(part);
    } else if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype) {
      for (const part of Object.values(value)) visit(part);
    }
  };
  visit(root);
  return found;
}

/**
 * Charges for each step of a checked expression, and replaces equality by that of the specification. A node can get another
 * evaluator, which is how the library itself expands macros.
 */
export function instrument(root: unknown): void {
  for (const node of nodesOf(root)) {
    const handle = handleOf(node);
    if (handle !== undefined) node.handle = handle;
    const evaluate = evaluateOf(node);
    if (node.op === 'value') node.evaluate = evaluate;
    else if (SIZED.has(node.op)) node.evaluate = counted(node, sized(evaluate));
    else node.evaluate = counted(node, evaluate);
  }
}

const SIZED: ReadonlySet<string> = new Set(['call', 'rcall', '+']);

/** Making an error takes as long as some hundred steps, longer for errors far into the expression, whose line must be counted. */
const ERROR_COST = 300;
let charged: unknown;

const counted =
  ({ pos = 0 }: SyntaxNode, evaluate: Evaluate): Evaluate =>
  (evaluator, node, context) => {
    spend(1);
    try {
      return evaluate(evaluator, node, context);
    } catch (error) {
      if (error !== charged) {
        charged = error;
        spend(ERROR_COST + pos);
      }
      throw error;
    }
  };

function evaluateOf({ op, meta }: SyntaxNode): Evaluate {
  const { alternate, macro, evaluate } = meta;
  if (alternate !== undefined)
    return (evaluator, _node, context) => alternate.evaluate(evaluator, alternate, context);
  if (macro !== undefined) return (evaluator, _node, context) => macro.evaluate(evaluator, macro, context);
  return op === 'map' ? (evaluateMap as Evaluate) : evaluate;
}

const sized =
  (evaluate: Evaluate): Evaluate =>
  (evaluator, node, context) => {
    const result = evaluate(evaluator, node, context);
    spendOnSize(sizeOf(result));
    return result;
  };

function sizeOf(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value) || value instanceof Uint8Array) return value.length;
  return isMap(value) ? sizeOfMap(value) : 0;
}

function handleOf({ op, args: parts, handle }: SyntaxNode): Handle | undefined {
  switch (op) {
    case 'call':
    case 'rcall': {
      const name = Array.isArray(parts) ? String(parts[0]) : '';
      const own = OWN_FUNCTIONS.get(name);
      return (args, second, third, evaluator) => {
        if (!Array.isArray(args)) return handle?.(args, second, third, evaluator);
        spendOnArguments(name, args);
        return own?.(args) ?? handle?.(readable(name, args), second, third, evaluator);
      };
    }
    case '<':
    case '<=':
    case '>':
    case '>=':
      return (left, right, node, evaluator) => {
        if (typeof left === 'string' && typeof right === 'string')
          spendOnSize(Math.min(left.length, right.length));
        return handle?.(left, right, node, evaluator);
      };
    case '==':
      return (left, right) => celEqual(left, right);
    case '!=':
      return (left, right) => !celEqual(left, right);
    case 'in':
      return (left, right) => celContains(right, left);
    case '+':
      return (left, right, node, evaluator) =>
        Array.isArray(left) && Array.isArray(right)
          ? joinLists(left, right)
          : inRange(handle?.(left, right, node, evaluator));
    case '-':
      return (left, right, node, evaluator) => inRange(handle?.(left, right, node, evaluator));
    case '-_':
      return (operand, ...rest) => {
        if (operand === MIN_INT) throw new Error(OVERFLOW);
        return handle?.(operand, ...rest);
      };
    case '/':
    case '%':
      return (left, right, node, evaluator) => {
        if (left === MIN_INT && right === -1n) throw new Error(OVERFLOW);
        return handle?.(left, right, node, evaluator);
      };
    case '.':
      return (left, right, node, evaluator) => {
        if (left instanceof CelObject) return left.select(String(right));
        if (Array.isArray(left)) return itemAt(left, right);
        return optionalField(left, right) ?? handle?.(left, right, node, evaluator);
      };
    case '.?':
      return (left, right, node, evaluator) => {
        if (left instanceof CelObject) return Optional.of(left.get(String(right)));
        return optionalField(left, right) ?? handle?.(left, right, node, evaluator);
      };
    case '[]':
      return (left, right, node, evaluator) => {
        if (Array.isArray(left)) return itemAt(left, right);
        if (left instanceof CelObject) throw new Error('no such overload');
        const key = left instanceof Map ? keyIn(left, right) : undefined;
        return key === undefined
          ? handle?.(left, right, node, evaluator)
          : (left as Map<unknown, unknown>).get(key);
      };
    case '[?]':
      return (left, right, node, evaluator) => {
        const list = left instanceof Optional ? left.orValue(undefined) : left;
        if (list instanceof CelObject) throw new Error('no such overload');
        return Array.isArray(list) && typeof right === 'bigint'
          ? Optional.of(list[Number(right)])
          : handle?.(left, right, node, evaluator);
      };
    default:
      return undefined;
  }
}

const MIN_INT = -(1n << 63n);
const OVERFLOW = 'integer overflow';
const [FIRST_TIME, LAST_TIME] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59.999Z')];

/** @throws Error for a time whose year is not one of four digits */
function inRange(value: unknown): unknown {
  if (value instanceof Date && !(value.getTime() >= FIRST_TIME && value.getTime() <= LAST_TIME))
    throw new Error('timestamp overflow');
  return value;
}

/** Functions that look at the beginning or the end of a text alone: the text itself costs nothing. */
const AT_ENDS: ReadonlySet<string> = new Set(['startsWith', 'endsWith']);
/** Functions that take much longer for a character than others do. */
const PER_CHARACTER: ReadonlyMap<string, number> = new Map([
  ['charAt', 10],
  ['double', 4],
  ['format', 30],
  ['isURL', 7],
  ['size', 5],
  ['url', 7],
  ['validate', 30],
]);
/** Reading a clock in another time zone. */
const ZONE_COST = 5000;
/** The library takes quadratic time for a duration. */
export const MAX_DURATION_LENGTH = 256;

/** Charges for the texts that a function reads, before it does. @throws OutOfBudget, Error */
function spendOnArguments(name: string, args: readonly unknown[]): void {
  for (let at = AT_ENDS.has(name) ? 1 : 0; at < args.length; at += 1) {
    const value = args[at];
    if (typeof value !== 'string' || value.length < SIZE_OF_NOTHING) continue;
    spendOnSize(value.length * (PER_CHARACTER.get(name) ?? 1));
    if (name === 'duration' && value.length > MAX_DURATION_LENGTH)
      throw new Error(`time: invalid duration ${JSON.stringify(value.slice(0, MAX_DURATION_LENGTH))}`);
  }
  if (args.length === 2 && args[0] instanceof Date && typeof args[1] === 'string') spend(ZONE_COST);
}

/** Arguments that the library does not read: offsets of time zones without a sign, and the duration `0`. */
function readable(name: string, args: readonly unknown[]): readonly unknown[] {
  const [first, second] = args;
  if (name === 'duration' && first === '0') return ['0s'];
  const isOffset = first instanceof Date && typeof second === 'string' && /^\d\d:\d\d$/.test(second);
  return isOffset ? [first, `+${second}`] : args;
}

/** Shorter texts are free: nearly all are. */
const SIZE_OF_NOTHING = 10;

/** @throws Error when the list is shorter */
function itemAt(list: readonly unknown[], index: unknown): unknown {
  if (typeof index === 'string') throw new Error("unsupported index type 'string' in list");
  const item = list[Number(index)];
  if (item === undefined) throw new Error(`index out of bounds: ${index}`);
  return item;
}

/** The field of an object that may be absent. Undefined: it is something else. */
function optionalField(left: unknown, name: unknown): Optional | undefined {
  if (!(left instanceof Optional)) return undefined;
  const object: unknown = left.orValue(undefined);
  return object instanceof CelObject ? Optional.of(object.get(String(name))) : undefined;
}
