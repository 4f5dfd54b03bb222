import type { Environment } from '@marcbachmann/cel-js';
import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import { spend } from '../budget.ts';
import { celContains, celEqual } from '../equality.ts';

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
