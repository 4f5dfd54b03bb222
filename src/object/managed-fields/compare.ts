import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { equal } from '../equality.ts';
import { isObject } from '../merge-patch.ts';
import { EMPTY, type FieldSet, fieldElement, LEAF, SELF } from './field-set.ts';
import {
  deduce,
  elementOf,
  type Layout,
  type ListShape,
  layoutOf,
  type Part,
  partOf,
  type Shape,
  shapeOfItem,
} from './shape.ts';

/** What a write did to an object. */
export interface Changes {
  /** Fields that are new or have another value. */
  readonly written: FieldSet;
  readonly removed: FieldSet;
}

const NO_CHANGES: Changes = { written: EMPTY, removed: EMPTY };

/** The two objects are not looked into further than they differ. */
export function compare(before: JsonObject, after: JsonObject, shape: Shape): Changes {
  return compareValues(before, after, shape) ?? NO_CHANGES;
}

interface NodeChanges {
  readonly written: FieldSet | undefined;
  readonly removed: FieldSet | undefined;
}

function compareValues(before: JsonValue, after: JsonValue, shape: Shape): Changes | undefined {
  const found = compareNodes(before, after, shape);
  return found === undefined
    ? undefined
    : { written: found.written ?? EMPTY, removed: found.removed ?? EMPTY };
}

/** Undefined: nothing changed. Otherwise the nodes to hang below the value's own path. */
function compareNodes(before: JsonValue, after: JsonValue, shape: Shape): NodeChanges | undefined {
  if (equal(before, after)) return undefined;
  const known = shape.kind === 'deduced' ? commonShape(before, after) : shape;
  if (known === undefined)
    return { written: everythingIn(after, shape), removed: everythingIn(before, shape) };
  switch (known.kind) {
    case 'struct':
    case 'map':
      return bothEmpty(before, after) ? CHANGED : compareObjects(toObject(before), toObject(after), known);
    case 'set':
    case 'keyed':
      return bothEmpty(before, after) ? CHANGED : compareLists(toList(before), toList(after), known);
    case 'leaf':
    case 'deduced':
      return CHANGED;
    default:
      return known satisfies never;
  }
}

const CHANGED: NodeChanges = { written: LEAF, removed: undefined };

/** Undefined for two values that have nothing in common. null is whatever the other is. */
function commonShape(before: JsonValue, after: JsonValue): Shape | undefined {
  if (before === null) return deduce(after);
  const shape = deduce(before);
  return after === null || shape.kind === deduce(after).kind ? shape : undefined;
}

/** null, {} and [] differ, but have no parts that could tell. */
const bothEmpty = (a: JsonValue, b: JsonValue): boolean => isHollow(a) && isHollow(b);
const isHollow = (value: JsonValue): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0);
const toObject = (value: JsonValue): JsonObject => (isObject(value) ? value : {});
const toList = (value: JsonValue): JsonValue[] => (Array.isArray(value) ? value : []);

function compareObjects(
  before: JsonObject,
  after: JsonObject,
  shape: Shape & { kind: 'struct' | 'map' },
): NodeChanges {
  const changes = new Collected();
  for (const key of Object.keys(after)) {
    const value = after[key];
    if (value !== undefined) changes.add(partOf(shape, key), before[key], value);
  }
  for (const key of Object.keys(before)) {
    const value = before[key];
    if (value !== undefined && after[key] === undefined) {
      changes.add(partOf(shape, key), value, undefined);
    }
  }
  return changes;
}

/** Where two values stand in theirs. */
type Place = Pick<Part, 'element' | 'shape'>;

class Collected implements NodeChanges {
  written: Record<string, FieldSet> | undefined;
  removed: Record<string, FieldSet> | undefined;

  add({ element, shape }: Place, before: JsonValue | undefined, after: JsonValue | undefined): void {
    if (after === undefined) {
      if (before !== undefined) this.put('removed', element, everythingIn(before, shape));
      return;
    }
    if (before === undefined) {
      this.put('written', element, everythingIn(after, shape));
      return;
    }
    const found = compareNodes(before, after, shape);
    if (found?.written !== undefined) this.put('written', element, found.written);
    if (found?.removed !== undefined) this.put('removed', element, found.removed);
  }

  put(kind: 'written' | 'removed', element: string, node: FieldSet): void {
    this[kind] ??= {};
    this[kind][element] = node;
  }
}

/** Items that cannot be told apart are compared as one. */
function compareLists(
  before: readonly JsonValue[],
  after: readonly JsonValue[],
  shape: ListShape,
): NodeChanges {
  const changes = new Collected();
  const items = shapeOfItem(shape);
  const old = index(before, shape);
  const fresh = index(after, shape);
  for (const [element, mine] of fresh) {
    const theirs = old.get(element);
    if (mine.length < 2 && (theirs?.length ?? 0) < 2)
      changes.add({ element, shape: items }, theirs?.[0], mine[0]);
    else if (!equal(mine, theirs)) {
      changes.put('written', element, LEAF);
      if (theirs?.[0] !== undefined) changes.put('removed', element, everythingIn(theirs[0], items));
    }
  }
  for (const [element, [item, ...more]] of old) {
    if (fresh.has(element) || item === undefined) continue;
    changes.put('removed', element, more.length > 0 ? LEAF : everythingIn(item, items));
  }
  return changes;
}

function index(list: readonly JsonValue[], shape: ListShape): Map<string, JsonValue[]> {
  const out = new Map<string, JsonValue[]>();
  for (const item of list) {
    const element = elementOf(item, shape);
    if (element === undefined) continue;
    const known = out.get(element);
    if (known === undefined) out.set(element, [item]);
    else known.push(item);
  }
  return out;
}

/** The node of a value that is new, or gone, as a whole: itself and all its parts. */
function everythingIn(value: JsonValue, shape: Shape): FieldSet {
  const known = shape.kind === 'deduced' ? deduce(value) : shape;
  switch (known.kind) {
    case 'struct':
    case 'map':
      return isObject(value) ? partsOf(value, known) : LEAF;
    case 'set':
    case 'keyed':
      return Array.isArray(value) ? itemsOf(value, known) : LEAF;
    default:
      return LEAF;
  }
}

function partsOf(object: JsonObject, shape: Shape & { kind: 'struct' | 'map' }): FieldSet {
  const keys = Object.keys(object).filter((key) => object[key] !== undefined);
  if (keys.length === 0) return LEAF;
  if (shape.kind === 'map') {
    const out: Record<string, FieldSet> = { [SELF]: LEAF };
    for (const key of keys.sort()) out[fieldElement(key)] = everythingIn(object[key] ?? null, shape.values);
    return out;
  }
  const layout = layoutOf(shape, keys);
  const known = layout.isFlat ? flatSets.get(layout) : undefined;
  if (known !== undefined) return known;
  const out: Record<string, FieldSet> = { [SELF]: LEAF };
  for (const part of layout.parts) out[part.element] = everythingIn(object[part.key] ?? null, part.shape);
  if (layout.isFlat) flatSets.set(layout, out);
  return out;
}

/** Sets are never changed, so equal ones can be one. */
const flatSets = new WeakMap<Layout, FieldSet>();

function itemsOf(list: readonly JsonValue[], shape: ListShape): FieldSet {
  if (list.length === 0) return LEAF;
  const items = shapeOfItem(shape);
  const out: Record<string, FieldSet> = { [SELF]: LEAF };
  for (const item of list) {
    const element = elementOf(item, shape);
    if (element !== undefined) out[element] = out[element] === undefined ? everythingIn(item, items) : LEAF;
  }
  return out;
}
