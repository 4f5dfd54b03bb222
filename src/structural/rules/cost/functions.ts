import { itemsOf, type Operand, type Sizes } from './operand.ts';
import { ANY, add, either, exactly, multiply, ONE, type Range, scale } from './range.ts';

/**
 * Costs of functions besides their operands, and sizes of their results (apiserver/pkg/cel/library/cost.go, cel-go's
 * checker/cost.go and ext/sets.go). The figures decide which rules Kubernetes accepts, so they are kept.
 */

interface Call {
  readonly name: string;
  /** The value before the dot. */
  readonly target: Operand | undefined;
  readonly args: readonly Operand[];
  readonly sizes: Sizes;
}

export interface CallCost {
  readonly cost: Range;
  readonly size?: Range | undefined;
}

const PER_CHARACTER = 0.1;
const PER_PATTERN_CHARACTER = 0.25;
/** A long pattern, for named formats. */
const FORMAT_PATTERN = 128;

type Estimate = (call: Call) => CallCost | undefined;

const nominal: Estimate = () => ({ cost: ONE });

/** Traverses the target once. */
const alongTarget: Estimate = ({ target, sizes }) => {
  if (target === undefined) return undefined;
  const size = sizes.of(target);
  return { cost: scale(size, PER_CHARACTER), size };
};

/** Traverses the first argument once. */
const alongFirst: Estimate = ({ args: [first], sizes }) =>
  first && { cost: scale(sizes.of(first), PER_CHARACTER) };

/** Traverses a list and its texts once. */
const alongItems: Estimate = ({ target, sizes }) => {
  if (target === undefined) return undefined;
  const items = itemsOf(target);
  if (items === undefined) return { cost: scale(sizes.of(target), PER_CHARACTER) };
  const isText = items.type?.name === 'string' || items.type?.name === 'bytes';
  const each = isText ? add(ONE, scale(sizes.of(items), PER_CHARACTER)) : ONE;
  return { cost: multiply(sizes.of(target), each) };
};

const matching: Estimate = ({ target, args: [pattern], sizes }) => {
  if (target === undefined || pattern === undefined) return undefined;
  const text = scale(add(sizes.of(target), ONE), PER_CHARACTER);
  return { cost: multiply(text, scale(sizes.of(pattern), PER_PATTERN_CHARACTER)) };
};

const finding: Estimate = (call) => {
  const cost = matching(call);
  if (cost === undefined || call.target === undefined) return undefined;
  return { ...cost, size: { min: 0, max: call.sizes.of(call.target).max } };
};

const containing: Estimate = ({ target, args: [part], sizes }) => {
  if (target === undefined || part === undefined) return undefined;
  const cost = multiply(
    scale(sizes.ofValue(target), PER_CHARACTER),
    scale(sizes.ofValue(part), PER_CHARACTER),
  );
  return { cost };
};

const replacing: Estimate = ({ target, args: [from, to], sizes }) => {
  if (target === undefined || from === undefined || to === undefined) return undefined;
  const size = sizes.of(target);
  const result = replacedSize(size, sizes.of(from), sizes.of(to));
  return { cost: scale(size, 2 * PER_CHARACTER), size: result };
};

/** The largest result replaces the shortest parts by the longest ones, the smallest the other way round. */
function replacedSize(size: Range, from: Range, to: Range): Range {
  const grows = to.max > from.min;
  const shrinks = from.max > to.min;
  const max =
    from.min === 0 ? [size.max + 1, size.max] : grows ? [Math.ceil(size.max / from.min), 0] : [0, size.max];
  const min =
    from.max === 0 ? [size.min + 1, size.min] : shrinks ? [Math.ceil(size.min / from.max), 0] : [0, size.min];
  const count = { min: min[0] ?? 0, max: max[0] ?? 0 };
  return add(multiply(count, to), { min: min[1] ?? 0, max: max[1] ?? 0 });
}

const splitting: Estimate = ({ target, args: [, most], sizes }) => {
  if (target === undefined) return undefined;
  const size = sizes.of(target);
  const limit = most?.node?.op === 'value' ? most.node.args : undefined;
  // A negative limit means none: Go's conversion makes it huge.
  const max = typeof limit === 'bigint' ? (limit < 0n ? ANY.max : Number(limit)) : size.max;
  return { cost: scale(size, 2 * PER_CHARACTER), size: { min: 0, max } };
};

const joining: Estimate = ({ target, args: [separator], sizes }) => {
  if (target === undefined) return undefined;
  const count = sizes.of(target);
  const items = itemsOf(target);
  const texts = items === undefined ? exactly(0) : multiply(count, sizes.of(items));
  const between = { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) };
  const size = separator === undefined ? texts : add(texts, multiply(sizes.of(separator), between));
  return { cost: scale(size, PER_CHARACTER), size };
};

const quoting: Estimate = ({ args: [text], sizes }) => {
  if (text === undefined) return undefined;
  const size = sizes.ofValue(text);
  return { cost: scale(size, PER_CHARACTER), size: { min: size.min + 2, max: size.max * 2 + 2 } };
};

/** Conversions between texts and bytes cost their size, others nothing. */
const converting =
  (from: 'string' | 'bytes', resize: (size: Range) => Range): Estimate =>
  ({ args: [value], sizes }) => {
    const isAny = value?.type?.kind === 'dyn';
    if (value === undefined || (!isAny && value.type?.name !== from)) return undefined;
    const size = sizes.ofValue(value);
    const cost = scale(size, PER_CHARACTER);
    return { cost: isAny ? either(cost, ONE) : cost, size: resize(size) };
  };

/** A character has up to four bytes. */
const toBytes = converting('string', ({ min, max }) => ({ min, max: max * 4 }));
const toText = converting('bytes', ({ min, max }) => ({ min: Math.floor(min / 4), max }));

const formatting: Estimate = ({ target, sizes }) =>
  target && { cost: scale(sizes.ofValue(target), PER_CHARACTER) };

const validating: Estimate = ({ args: [text], sizes }) =>
  text && { cost: scale(scale(sizes.of(text), PER_CHARACTER), FORMAT_PATTERN * PER_PATTERN_CHARACTER) };

const address: Estimate = (call) => (call.args.length === 0 ? { cost: ONE } : alongFirst(call));

const canonical: Estimate = ({ args: [text], sizes }) =>
  text && { cost: scale(sizes.of(text), 2 * PER_CHARACTER) };

/** An address has 4 or 16 bytes; both are compared, and texts are parsed first. */
const ADDRESS_BYTES = { min: 4, max: 16 };
const within: Estimate = ({ args: [other], sizes }) => {
  if (other === undefined) return undefined;
  const compared = scale(add(ADDRESS_BYTES, ADDRESS_BYTES), PER_CHARACTER);
  return {
    cost: other.type?.name === 'string' ? add(compared, scale(sizes.of(other), PER_CHARACTER)) : compared,
  };
};
const rangeWithin: Estimate = (call) => {
  const compared = within(call);
  return compared && { cost: add(add(compared.cost, scale(ADDRESS_BYTES, PER_CHARACTER)), ONE) };
};

/** A new list: its items, and the list itself. */
const LIST_COST = exactly(11);

const sizeOfTarget = ({ target, sizes }: Call): Range => (target === undefined ? ANY : sizes.of(target));

const remade = ({ target }: Call, factor: number, size: Range): CallCost | undefined =>
  target && { cost: add(scale(size, factor), LIST_COST), size };

const numberIn = (operand: Operand | undefined, otherwise: number): number => {
  const value = operand?.node?.op === 'value' ? operand.node.args : undefined;
  return typeof value === 'bigint' ? Math.max(0, Number(value)) : otherwise;
};

const slicing: Estimate = (call) => {
  const [start, end] = call.args;
  const count = numberIn(end, sizeOfTarget(call).max) - numberIn(start, 0);
  return remade(call, 1, exactly(Math.max(0, count)));
};

const flattening: Estimate = (call) =>
  remade(call, call.args.length === 0 ? 1 : numberIn(call.args[0], ANY.max), sizeOfTarget(call));

/** Each item is compared with each other one. */
function comparedItems(call: Call, factor: number): CallCost | undefined {
  const size = sizeOfTarget(call);
  return remade(call, factor, multiply(size, size));
}

const comparisonFactor = (items: string | undefined): number =>
  items === 'string' || items === 'bytes' ? 2 + PER_CHARACTER : 2;

const sorting: Estimate = (call) => comparedItems(call, comparisonFactor(call.target?.type?.valueType?.name));

const ranging: Estimate = ({ args: [count] }) => {
  const size = exactly(numberIn(count, ANY.max));
  return { cost: add(size, LIST_COST), size };
};

/** `list.sortBy(item, key)` besides the keys, whose type is given. */
export function costOfSorting(size: Range, keys: string | undefined): Range {
  return add(scale(multiply(size, size), comparisonFactor(keys)), LIST_COST);
}

const comparingSets =
  (factor: number): Estimate =>
  ({ target, args: [a, b], sizes }) => {
    if (target === undefined || a === undefined || b === undefined) return undefined;
    return { cost: add(scale(multiply(sizes.of(a), sizes.of(b)), factor), ONE) };
  };

const named = (names: readonly string[], estimate: Estimate): [string, Estimate][] =>
  names.map((name) => [name, estimate]);

const AUTHORIZER =
  'serviceAccount path group resource subresource namespace name allowed reason error errored';
const ADDRESSES =
  'masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast';
const QUANTITIES =
  'sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch';
const URLS = 'getScheme getHostname getHost getPort getEscapedPath getQuery';

const ESTIMATES: ReadonlyMap<string, Estimate> = new Map([
  ...named([AUTHORIZER, ADDRESSES, QUANTITIES, URLS].join(' ').split(' '), nominal),
  ...named(['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'], alongItems),
  ...named(['lowerAscii', 'upperAscii', 'substring', 'trim'], alongTarget),
  ...named(
    'url cidr isIP isCIDR quantity isQuantity semver isSemver startsWith endsWith'.split(' '),
    alongFirst,
  ),
  ['reverse', (call) => remade(call, 1, sizeOfTarget(call))],
  ['slice', slicing],
  ['flatten', flattening],
  ['distinct', (call) => comparedItems(call, 2)],
  ['sort', sorting],
  ...named(['find', 'findAll'], finding),
  // Lists of attributes have at most so many values (dynamic-resource-allocation, cel).
  ['includes', () => ({ cost: { min: 0, max: 48 } })],
  ['check', () => ({ cost: exactly(350_000) })],
  ['matches', matching],
  ['reMatch', matching],
  ['contains', containing],
  ['replace', replacing],
  ['split', splitting],
  ['join', joining],
  ['bytes', toBytes],
  ['string', toText],
  ['format', formatting],
  ['validate', validating],
  ['ip', address],
  ['isCanonical', canonical],
  ['containsIP', within],
  ['containsCIDR', rangeWithin],
]);

/** Functions with a namespace. */
const NAMESPACED: ReadonlyMap<string, Estimate> = new Map([
  ['contains', comparingSets(1)],
  ['intersects', comparingSets(1)],
  ['equivalent', comparingSets(2)],
  ['quote', quoting],
  ['isCanonical', canonical],
  ['named', nominal],
  ['range', ranging],
]);

/** `sets` in `sets.contains(a, b)`: part of the name of a function. */
export const isNamespace = ({ node }: Operand): boolean => node?.meta.alternate?.op === 'value';

/** The cost of a call besides its operands: one by default. */
export function costOfCall(call: Call): CallCost {
  const { name, target } = call;
  const estimate = target !== undefined && isNamespace(target) ? NAMESPACED.get(name) : ESTIMATES.get(name);
  return estimate?.(call) ?? { cost: ONE };
}
