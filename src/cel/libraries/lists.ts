import { type Environment, Optional } from '@marcbachmann/cel-js';
import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import { spend, spendOnSize } from '../budget.ts';
import { celContains, celEqual } from '../cel-equality.ts';
import {
  type Context,
  type Evaluator,
  iterationName,
  type MacroCall,
  type TypeChecker,
  type TypeName,
} from './macros.ts';

/** Functions of lists (Kubernetes: cel/library, lists). */
export function registerLists(environment: Environment): Environment {
  for (const type of COMPARABLE)
    environment
      .registerFunction(`list<${type}>.isSorted(): bool`, isSorted)
      .registerFunction(`list<${type}>.min(): ${type}`, (list: readonly unknown[]) => extreme(list, 'min'))
      .registerFunction(`list<${type}>.max(): ${type}`, (list: readonly unknown[]) => extreme(list, 'max'));
  for (const [type, zero] of SUMMABLE)
    environment.registerFunction(`list<${type}>.sum(): ${type}`, (list: readonly unknown[]) =>
      sum(list, zero),
    );
  return environment
    .registerFunction('list<A>.indexOf(A): int', (list: readonly unknown[], item: unknown) =>
      BigInt(list.findIndex((one) => celEqual(one, item))),
    )
    .registerFunction('list<A>.lastIndexOf(A): int', (list: readonly unknown[], item: unknown) =>
      BigInt(list.findLastIndex((one) => celEqual(one, item))),
    );
}

/** Newer functions of lists (cel-go: ext/lists, version 3). */
export function registerNewerLists(environment: Environment): Environment {
  for (const type of COMPARABLE)
    environment.registerFunction(`list<${type}>.sort(): list<${type}>`, (list: readonly unknown[]) =>
      sortedBy(list, list),
    );
  return environment
    .registerType('kubernetes.Lists', Lists)
    .registerConstant('lists', 'kubernetes.Lists', new Lists())
    .registerFunction('kubernetes.Lists.range(int): list<int>', (_: Lists, count: bigint) => {
      spendOnSize(Number(count));
      return Array.from({ length: Math.max(0, Number(count)) }, (__, at) => BigInt(at));
    })
    .registerFunction('list<A>.slice(int, int): list<A>', slice)
    .registerFunction('list<A>.first(): optional<A>', (list: readonly unknown[]) => optionalAt(list, 0))
    .registerFunction('list<A>.last(): optional<A>', (list: readonly unknown[]) => optionalAt(list, -1))
    .registerFunction('list<A>.reverse(): list<A>', (list: readonly unknown[]) => list.toReversed())
    .registerFunction('list<A>.distinct(): list<A>', distinct)
    .registerFunction('list<list<A>>.flatten(): list<A>', (list: readonly unknown[]) => flatten(list, 1))
    .registerFunction('list<dyn>.flatten(int): list<dyn>', (list: readonly unknown[], depth: bigint) =>
      flatten(list, Number(depth)),
    )
    .registerFunction('list.sortBy(ast, ast): list<dyn>', sortByMacro);
}

/** The namespace in `lists.range(…)`. */
class Lists {}

function slice(list: readonly unknown[], start: bigint, end: bigint): unknown[] {
  const cannot = `cannot slice(${start}, ${end})`;
  if (start < 0n || end < 0n) throw new Error(`${cannot}, negative indexes not supported`);
  if (start > end) throw new Error(`${cannot}, start index must be less than or equal to end index`);
  if (BigInt(list.length) < end) throw new Error(`${cannot}, list is length ${list.length}`);
  return list.slice(Number(start), Number(end));
}

const optionalAt = (list: readonly unknown[], at: number): Optional =>
  list.length === 0 ? Optional.none() : Optional.of(list.at(at));

function distinct(list: readonly unknown[]): unknown[] {
  const found: unknown[] = [];
  for (const item of list) if (!found.some((other) => celEqual(other, item))) found.push(item);
  return found;
}

export function flatten(list: readonly unknown[], depth: number): unknown[] {
  if (depth < 0) throw new Error('level must be non-negative');
  spendOnSize(list.length);
  return list.flatMap((item) => (Array.isArray(item) && depth > 0 ? flatten(item, depth - 1) : [item]));
}

/** The items in the order of their keys. @throws Error when the keys are not of one type that has an order */
function sortedBy(list: readonly unknown[], keys: readonly unknown[]): unknown[] {
  const [first] = keys;
  if (keys.some((key) => kindOf(key) !== kindOf(first)))
    throw new Error('list elements must have the same type');
  const order = keys.map((_, at) => at);
  order.sort((a, b) => (isLess(keys[a], keys[b]) ? -1 : isLess(keys[b], keys[a]) ? 1 : 0));
  return order.map((at) => list[at]);
}

const kindOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? value.constructor : typeof value;

/** `list.sortBy(item, key)`: the key of each item decides. */
function sortByMacro({ ast, args: [variable, key], receiver }: MacroCall): object {
  const bound = iterationName(variable, 'sortBy');
  let inner: Context | undefined;
  return {
    ...{ receiver, key },
    async: false,
    typeCheck(checker: TypeChecker, _macro: unknown, context: Context): TypeName {
      const type = checker.check(receiver, context);
      inner = context.forkWithVariable(bound, type.valueType ?? checker.getType('dyn'));
      const keyType = checker.check(key, inner);
      const isList = type.kind === 'list' || type.kind === 'dyn';
      if (isList && (keyType.kind === 'dyn' || COMPARABLE.includes(keyType.name))) return type;
      const applied = `'${type.name}.@sortByAssociatedKeys(list<${keyType.name}>)'`;
      throw checker.createError('no_matching_overload', `found no matching overload for ${applied}`, ast);
    },
    evaluate(evaluator: Evaluator, _macro: unknown, context: Context): unknown {
      const list = evaluator.run(receiver, context);
      if (!Array.isArray(list)) throw new Error(NO_OVERLOAD);
      const keys = list.map((item) => {
        spend(1);
        return evaluator.run(key, inner?.reuse(context).setIterValue(item, evaluator));
      });
      return sortedBy(list, keys);
    },
  };
}

/** Types with a sum, and the sum of none. Results have the type of the items, from which costs follow. */
const SUMMABLE: readonly (readonly [type: string, zero: unknown])[] = [
  ['int', 0n],
  ['uint', new UnsignedInt(0n)],
  ['double', 0],
  ['google.protobuf.Duration', new Duration(0n, 0)],
];
const COMPARABLE = [
  ...SUMMABLE.map(([type]) => type),
  'bool',
  'google.protobuf.Timestamp',
  'string',
  'bytes',
];

const NO_OVERLOAD = 'no such overload';

/** A value that JavaScript orders as CEL orders the original. */
function ordinal(value: unknown): bigint | number | string | boolean {
  if (typeof value === 'object') {
    if (value instanceof Date) return value.getTime();
    if (value instanceof UnsignedInt) return value.valueOf();
    if (value instanceof Duration) return nanosOf(value);
    if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  }
  switch (typeof value) {
    case 'bigint':
    case 'number':
    case 'string':
    case 'boolean':
      return value;
    default:
      throw new Error(NO_OVERLOAD);
  }
}

const nanosOf = (duration: Duration): bigint =>
  BigInt(duration.seconds) * 1_000_000_000n + BigInt(duration.nanos);

function isLess(a: unknown, b: unknown): boolean {
  spend(1);
  const [left, right] = [ordinal(a), ordinal(b)];
  const numbers = typeof left !== 'string' && typeof right !== 'string';
  if (typeof left !== typeof right && !numbers) throw new Error(NO_OVERLOAD);
  return left < right;
}

const isSorted = (list: readonly unknown[]): boolean =>
  list.every((item, at) => at === 0 || !isLess(item, list[at - 1]));

function extreme(list: readonly unknown[], which: 'min' | 'max'): unknown {
  if (list.length === 0) throw new Error(`${which} called on empty list`);
  return list.reduce((best, item) => {
    const better = which === 'min' ? isLess(item, best) : isLess(best, item);
    return better ? item : best;
  });
}

function sum(list: readonly unknown[], zero: unknown): unknown {
  const [first] = list;
  if (first === undefined) return zero;
  return list.slice(1).reduce((total, item) => add(total, item), first);
}

function add(a: unknown, b: unknown): unknown {
  spend(1);
  if (typeof a === 'bigint' && typeof b === 'bigint') return BigInt.asIntN(64, a + b);
  if (typeof a === 'number' && typeof b === 'number') return a + b;
  if (a instanceof UnsignedInt && b instanceof UnsignedInt) return new UnsignedInt(a.valueOf() + b.valueOf());
  if (a instanceof Duration && b instanceof Duration) {
    const nanos = nanosOf(a) + nanosOf(b);
    return new Duration(nanos / 1_000_000_000n, Number(nanos % 1_000_000_000n));
  }
  throw new Error(NO_OVERLOAD);
}

/** The namespace in `sets.contains(…)`. */
class Sets {}

/** Lists as sets (cel-go: ext/sets). */
export const registerSets = (environment: Environment): Environment =>
  environment
    .registerType('kubernetes.Sets', Sets)
    .registerConstant('sets', 'kubernetes.Sets', new Sets())
    .registerFunction(
      'kubernetes.Sets.contains(list<A>, list<A>): bool',
      (_: Sets, list: readonly unknown[], sub: readonly unknown[]) => containsAll(list, sub),
    )
    .registerFunction(
      'kubernetes.Sets.equivalent(list<A>, list<A>): bool',
      (_: Sets, a: readonly unknown[], b: readonly unknown[]) => containsAll(a, b) && containsAll(b, a),
    )
    .registerFunction(
      'kubernetes.Sets.intersects(list<A>, list<A>): bool',
      (_: Sets, a: readonly unknown[], b: readonly unknown[]) => a.some((item) => celContains(b, item)),
    );

const containsAll = (list: readonly unknown[], sub: readonly unknown[]): boolean =>
  sub.every((item) => celContains(list, item));
