import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { identical } from '../equality.ts';
import { isObject } from '../json-values.ts';
import { type FieldSet, LEAF, type Memory, Recent, SELF } from './field-set.ts';
import { DEDUCED_MAP, elementOf, type ListShape, partOf, type Shape, shapeOfItem } from './shape.ts';

/** Makes the sets of values of one shape, and remembers the recent ones. */
export interface Place {
  /** Undefined: the set is empty, which happens only in a place with a blank value. */
  setOf(value: JsonValue): FieldSet | undefined;
}

interface PlaceContext {
  readonly memory: Memory;
  /** The place all values of a shape share; undefined for values without parts. */
  placeOf(shape: Shape): Place | undefined;
}

/**
 * `blank`: the value before any write. Fields that still have it are not in the set, nor is the value's own path. Undefined:
 * none.
 */
export function toPlace(shape: Shape, blank: JsonValue | undefined, context: PlaceContext): Place {
  switch (shape.kind) {
    case 'struct':
    case 'map':
      return new ObjectPlace(shape, blank, context);
    case 'set':
    case 'keyed':
      return new ListPlace(shape, blank, context);
    case 'deduced':
      return new DeducedPlace(blank, context);
    case 'leaf':
      return new LeafPlace(blank);
    default:
      return shape satisfies never;
  }
}

type Nodes = readonly (FieldSet | undefined)[];
const NO_NODES: Nodes = [];
/** A list whose items have no keys. */
const ONLY_ITSELF: FieldSet = Object.freeze({ [SELF]: LEAF });
/** Values with more parts are seldom alike. */
const MAX_PARTS = 64;

class LeafPlace implements Place {
  readonly #blank: JsonValue | undefined;

  constructor(blank: JsonValue | undefined) {
    this.#blank = blank;
  }

  setOf(value: JsonValue): FieldSet | undefined {
    return this.#blank !== undefined && identical(value, this.#blank) ? undefined : LEAF;
  }
}

class DeducedPlace implements Place {
  readonly #leaf: LeafPlace;
  readonly #map: ObjectPlace;

  constructor(blank: JsonValue | undefined, context: PlaceContext) {
    this.#leaf = new LeafPlace(blank);
    this.#map = new ObjectPlace(DEDUCED_MAP, blank, context);
  }

  setOf(value: JsonValue): FieldSet | undefined {
    return isObject(value) ? this.#map.setOf(value) : this.#leaf.setOf(value);
  }
}

/** Sets of the values that have certain parts, by the sets of these parts. */
class Combinations {
  /** In the order of sets. `node`: where the part's own set is among those given; -1 for a part that has none. */
  readonly #parts: readonly { readonly element: string; readonly node: number }[];
  readonly #itself: boolean;
  readonly #known: Recent<{ readonly nodes: Nodes; readonly set: FieldSet | undefined }>;

  constructor(elements: readonly Element[], itself: boolean, memory: Memory) {
    this.#parts = [...elements].sort((a, b) => (a.element < b.element ? -1 : 1));
    this.#itself = itself;
    this.#known = new Recent(memory);
  }

  /** Undefined: none of the parts is in it. */
  of(nodes: Nodes): FieldSet | undefined {
    const { items } = this.#known;
    for (let at = 0; at < items.length; at += 1) {
      const known = items[at];
      if (known === undefined || !areSame(known.nodes, nodes)) continue;
      if (at > 0) this.#known.use(at);
      return known.set;
    }
    const set = this.#make(nodes);
    if (this.#parts.length <= MAX_PARTS) this.#known.add({ nodes, set }, 100 + 24 * this.#parts.length);
    return set;
  }

  #make(nodes: Nodes): FieldSet | undefined {
    const out: Record<string, FieldSet> = this.#itself ? { [SELF]: LEAF } : {};
    let parts = 0;
    for (const { element, node } of this.#parts) {
      const set = node < 0 ? LEAF : nodes[node];
      if (set === undefined) continue;
      out[element] = set;
      parts += 1;
    }
    if (parts === 0) return undefined;
    // A copy is quicker to read and to write as JSON than an object that was filled key by key. With very many keys, copying costs more than it saves.
    return parts > MAX_PARTS ? out : Object.freeze({ ...out });
  }
}

interface Element {
  readonly element: string;
  readonly node: number;
}

function areSame(a: Nodes, b: Nodes): boolean {
  for (let at = 0; at < a.length; at += 1) if (a[at] !== b[at]) return false;
  return true;
}

interface InnerField {
  readonly key: string;
  readonly place: Place;
}

/** Objects with the same keys in the same order. */
interface ObjectLayout {
  readonly keys: readonly string[];
  /** Fields that have sets of their own. */
  readonly inner: readonly InnerField[];
  readonly sets: Combinations;
}

class ObjectPlace implements Place {
  readonly #shape: Shape & { kind: 'struct' | 'map' };
  readonly #blank: JsonValue | undefined;
  readonly #context: PlaceContext;
  readonly #layouts: Recent<ObjectLayout>;
  readonly #withBlanks = new Map<string, Place>();

  constructor(
    shape: Shape & { kind: 'struct' | 'map' },
    blank: JsonValue | undefined,
    context: PlaceContext,
  ) {
    this.#shape = shape;
    this.#blank = blank;
    this.#context = context;
    this.#layouts = new Recent(context.memory);
  }

  setOf(value: JsonValue): FieldSet | undefined {
    if (!isObject(value)) return ofHollow(value, this.#blank);
    const known = this.#find(value);
    const keys = known === undefined ? keysOf(value) : [];
    if (keys.length > MAX_PARTS) return this.#ofWide(value, keys);
    const { inner, sets } = known ?? this.#learn(keys);
    if (inner.length === 0) return sets.of(NO_NODES) ?? ofHollow(value, this.#blank);
    const nodes: (FieldSet | undefined)[] = [];
    for (const { key, place } of inner) nodes.push(place.setOf(value[key] ?? null));
    return sets.of(nodes);
  }

  /** Not cached. Changes `keys`. */
  #ofWide(object: JsonObject, keys: string[]): FieldSet | undefined {
    const out: Record<string, FieldSet> = this.#blank === undefined ? { [SELF]: LEAF } : {};
    let isEmpty = true;
    // Elements sort as their keys do, because all have the same prefix.
    for (const key of keys.sort()) {
      const { element, shape } = partOf(this.#shape, key);
      const place = this.#placeOf(key, shape);
      const set = place === undefined ? LEAF : place.setOf(object[key] ?? null);
      if (set === undefined) continue;
      out[element] = set;
      isEmpty = false;
    }
    return isEmpty ? undefined : out;
  }

  #find(object: JsonObject): ObjectLayout | undefined {
    const { items } = this.#layouts;
    for (let at = 0; at < items.length; at += 1) {
      const layout = items[at];
      if (layout === undefined || !hasKeys(object, layout.keys)) continue;
      if (at > 0) this.#layouts.use(at);
      return layout;
    }
    return undefined;
  }

  #learn(keys: readonly string[]): ObjectLayout {
    const inner: InnerField[] = [];
    const elements: Element[] = [];
    for (const key of keys) {
      const { element, shape } = partOf(this.#shape, key);
      const place = this.#placeOf(key, shape);
      elements.push({ element, node: place === undefined ? -1 : inner.length });
      if (place !== undefined) inner.push({ key, place });
    }
    const sets = new Combinations(elements, this.#blank === undefined, this.#context.memory);
    const layout = { keys, inner, sets };
    this.#layouts.add(layout, sizeOf(elements));
    return layout;
  }

  #placeOf(key: string, shape: Shape): Place | undefined {
    const blank = isObject(this.#blank) && Object.hasOwn(this.#blank, key) ? this.#blank[key] : undefined;
    if (blank === undefined) return this.#context.placeOf(shape);
    let place = this.#withBlanks.get(key);
    if (place === undefined) {
      place = toPlace(shape, blank, this.#context);
      this.#withBlanks.set(key, place);
    }
    return place;
  }
}

const keysOf = (object: JsonObject): string[] =>
  Object.keys(object).filter((key) => object[key] !== undefined);

function hasKeys(object: JsonObject, keys: readonly string[]): boolean {
  let at = 0;
  for (const key in object) {
    if (keys[at] !== key || object[key] === undefined) return false;
    at += 1;
  }
  return at === keys.length;
}

const sizeOf = (elements: readonly Element[]): number =>
  elements.reduce((sum, { element }) => sum + 2 * element.length + 50, 200);

/** A value of another kind than its type, or without parts. */
function ofHollow(value: JsonValue, blank: JsonValue | undefined): FieldSet | undefined {
  if (blank === undefined) return LEAF;
  return isHollow(value) && isHollow(blank) && !identical(value, blank) ? LEAF : undefined;
}

const isHollow = (value: JsonValue): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0);

/** Lists whose items have the same keys in the same order. */
interface ListLayout {
  /** The identities of items: the items of a set, the values of all keys of others. */
  readonly ids: readonly (JsonValue | undefined)[];
  /** Places in the list of items that have sets of their own. */
  readonly inner: readonly number[];
  readonly sets: Combinations;
}

class ListPlace implements Place {
  readonly #shape: ListShape;
  readonly #blank: JsonValue | undefined;
  readonly #context: PlaceContext;
  readonly #layouts: Recent<ListLayout>;

  constructor(shape: ListShape, blank: JsonValue | undefined, context: PlaceContext) {
    this.#shape = shape;
    this.#blank = blank;
    this.#context = context;
    this.#layouts = new Recent(context.memory);
  }

  setOf(value: JsonValue): FieldSet | undefined {
    if (!Array.isArray(value) || value.length === 0) return ofHollow(value, this.#blank);
    const { inner, sets } = this.#find(value) ?? this.#learn(value);
    const set = sets.of(inner.length === 0 ? NO_NODES : this.#nodesOf(value, inner));
    return set ?? (this.#blank === undefined ? ONLY_ITSELF : undefined);
  }

  #nodesOf(list: readonly JsonValue[], inner: readonly number[]): Nodes {
    const items = this.#context.placeOf(shapeOfItem(this.#shape));
    const nodes: (FieldSet | undefined)[] = [];
    for (const at of inner) nodes.push(items?.setOf(list[at] ?? null));
    return nodes;
  }

  #find(list: readonly JsonValue[]): ListLayout | undefined {
    const { items } = this.#layouts;
    for (let at = 0; at < items.length; at += 1) {
      const layout = items[at];
      if (layout === undefined || !hasIds(list, layout.ids, this.#shape)) continue;
      if (at > 0) this.#layouts.use(at);
      return layout;
    }
    return undefined;
  }

  #learn(list: readonly JsonValue[]): ListLayout {
    const hasParts = this.#context.placeOf(shapeOfItem(this.#shape)) !== undefined;
    const inner: number[] = [];
    const elements = new Map<string, Element>();
    for (const [at, item] of list.entries()) {
      const element = elementOf(item, this.#shape);
      if (element === undefined) continue;
      // Items with equal keys count as one, without parts.
      if (!hasParts || elements.has(element)) elements.set(element, { element, node: -1 });
      else {
        elements.set(element, { element, node: inner.length });
        inner.push(at);
      }
    }
    const ids = idsOf(list, this.#shape);
    const known = [...elements.values()];
    const layout = {
      ids,
      inner,
      sets: new Combinations(known, this.#blank === undefined, this.#context.memory),
    };
    if (ids.length <= MAX_PARTS && ids.every((id) => typeof id !== 'object'))
      this.#layouts.add(layout, sizeOf(known));
    return layout;
  }
}

function idsOf(list: readonly JsonValue[], shape: ListShape): (JsonValue | undefined)[] {
  if (shape.kind === 'set') return [...list];
  const names = shape.keys;
  return list.flatMap((item) => (isObject(item) ? names.map((name) => item[name]) : [item]));
}

function hasIds(
  list: readonly JsonValue[],
  ids: readonly (JsonValue | undefined)[],
  shape: ListShape,
): boolean {
  if (shape.kind === 'set') return list.length === ids.length && list.every((item, at) => item === ids[at]);
  const names = shape.keys;
  if (list.length * names.length !== ids.length) return false;
  let at = 0;
  for (const item of list) {
    if (!isObject(item)) return false;
    for (const name of names) {
      if (item[name] !== ids[at]) return false;
      at += 1;
    }
  }
  return true;
}
