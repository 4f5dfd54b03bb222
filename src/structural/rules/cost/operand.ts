import type { CheckedNode, LibraryType } from '../../../cel/library-internals.ts';
import { isReserved } from '../escape.ts';
import { isNode } from '../syntax.ts';
import type { Path } from './path.ts';
import { ANY, exactly, ONE, type Range } from './range.ts';

/** A part of an expression, with its cost and the size of its value. */
export interface Operand {
  readonly node: CheckedNode | undefined;
  readonly type: LibraryType | undefined;
  readonly cost: Range;
  /** The size, if the expression determines it. */
  readonly size: Range | undefined;
  readonly path: Path | undefined;
}

const SCALARS: ReadonlySet<string> = new Set([
  'bool',
  'double',
  'int',
  'uint',
  'google.protobuf.Duration',
  'google.protobuf.Timestamp',
]);

const isScalar = (type: LibraryType | undefined): boolean => SCALARS.has(type?.name ?? '');

/** A type as estimates see it. */
export type SizedType =
  | { readonly kind: 'simple'; readonly maxElements: number }
  | { readonly kind: 'list'; readonly maxElements: number; readonly items: SizedType }
  | SizedMap
  | {
      readonly kind: 'object';
      readonly maxElements: number;
      fieldType(name: string): SizedType | undefined;
    };

interface SizedMap {
  readonly kind: 'map';
  readonly maxElements: number;
  readonly values: SizedType;
  /** Undefined: keys count as empty, because the keys of schemas have no size in Kubernetes. */
  readonly keys?: SizedType;
  /** Whether `map.key` has the size of a value. */
  readonly knowsNames?: boolean;
}

/** The value that an expression is about. */
export interface SizedValue {
  readonly type: SizedType;
  /** Its variable; undefined: every variable counts as the value. */
  readonly variable?: string;
}

/** Sizes of values that are bounded by their types. */
export class Sizes {
  readonly #root: SizedValue;

  constructor(root: SizedValue) {
    this.#root = root;
  }

  /** The size, or the unbounded range. */
  of(operand: Operand): Range {
    return operand.size ?? this.#declared(operand.path) ?? ANY;
  }

  /** The same, with one for scalars. */
  ofValue(operand: Operand): Range {
    return operand.size ?? this.#declared(operand.path) ?? (isScalar(operand.type) ? ONE : ANY);
  }

  /** The size at a path. The first step is a variable. */
  #declared(path: Path | undefined): Range | undefined {
    if (path === undefined) return undefined;
    const { type, variable } = this.#root;
    const [first, ...steps] = path.steps;
    if (variable !== undefined && variable !== first) return undefined;
    let at: SizedType | undefined = type;
    for (const step of steps) {
      if (at?.kind === 'map' && step === '@keys') at = at.keys ?? KEY;
      else at = at && below(at, step);
      if (at === undefined) return undefined;
    }
    return { min: 0, max: at.maxElements };
  }
}

const KEY: SizedType = { kind: 'simple', maxElements: 0 };

function below(type: SizedType, step: string): SizedType | undefined {
  if (step === '@items' || step === '@values') {
    if (type.kind === 'list') return type.items;
    return type.kind === 'map' ? type.values : undefined;
  }
  if (type.kind === 'map') return type.knowsNames === true ? type.values : undefined;
  // Kubernetes' sizes know fields by their escaped names alone.
  return type.kind === 'object' && !isReserved(step) ? type.fieldType(step) : undefined;
}

/** Items of a list as an operand. Undefined: not a list. */
export function itemsOf({ type, path }: Operand): Operand | undefined {
  if (type?.kind !== 'list') return undefined;
  const below = path?.copy().with('@items');
  return { node: undefined, type: type.valueType, cost: ONE, size: undefined, path: below };
}

/** The size of a literal. */
export function writtenSize({ op, args }: CheckedNode): Range | undefined {
  if (op === 'list' || op === 'map') return Array.isArray(args) ? exactly(args.length) : undefined;
  if (op !== 'value') return undefined;
  if (typeof args === 'string') return exactly([...args].length);
  return args instanceof Uint8Array ? exactly(args.length) : ONE;
}

/** The parts of a node, as nodes. */
export const partsOf = (args: unknown): CheckedNode[] =>
  (Array.isArray(args) ? args.flat() : [args]).filter((part): part is CheckedNode => isNode(part));
