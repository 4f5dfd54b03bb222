import type { ApiObject, JsonObject, JsonValue } from '../../../src/api/object-meta.ts';
import { identical } from '../../../src/object/equality.ts';
import { isObject } from '../../../src/object/json-values.ts';
import type { Changes } from '../../../src/object/managed-fields/compare.ts';
import {
  difference,
  EMPTY,
  type FieldSet,
  intersection,
  isEmpty,
  LEAF,
  SELF,
  sorted,
  union,
  without,
} from '../../../src/object/managed-fields/field-set.ts';
import {
  capUpdaters,
  fieldsOwnedBy,
  type Owner,
  parseOwners,
  withOwner,
} from '../../../src/object/managed-fields/owners.ts';
import {
  deduce,
  elementOf,
  emptyObject,
  type ListShape,
  type Part,
  partOf,
  type Shape,
  shapeOfItem,
} from '../../../src/object/managed-fields/shape.ts';
import {
  setOwners,
  type Writing,
  withoutOwners,
  withoutServerFields,
} from '../../../src/object/managed-fields/track.ts';

/** Ownership as its rules say it, without anything remembered or shared, for the quick way to be compared with. */

/** A write in one version, of an object that does not state its owners. */
export function plainTrack(object: ApiObject, old: ApiObject | undefined, writing: Writing): void {
  const known = old?.metadata.managedFields;
  const owners = parseOwners(known, 'stored') ?? [];
  delete object.metadata.managedFields;
  if (owners.length === 0 && old !== undefined) return;
  const { shape } = writing.version;
  const blank = shape.kind === 'struct' ? emptyObject(shape.schema) : {};
  const changes = plainCompare(old === undefined ? blank : withoutOwners(old), object, shape);
  const written = without(changes.written, writing.reset);
  const removed = without(changes.removed, writing.reset);
  if (isEmpty(written) && isEmpty(removed) && known !== undefined) object.metadata.managedFields = known;
  else setOwners(object, capUpdaters(ownersAfter(owners, { written, removed }, writing)));
}

function ownersAfter(owners: readonly Owner[], { written, removed }: Changes, writing: Writing): Owner[] {
  const left = owners.map((owner) => {
    const lost = union(intersection(owner.fields, written), intersection(owner.fields, removed));
    return isEmpty(lost) ? owner : { ...owner, fields: sorted(difference(owner.fields, lost)) };
  });
  const taken = withoutServerFields(written);
  if (isEmpty(taken)) return left;
  const { manager, subresource, version, now } = writing;
  const writer = { manager, subresource, operation: 'Update', apiVersion: version.apiVersion } as const;
  return withOwner(left, { ...writer, time: now, fields: union(fieldsOwnedBy(left, writer), taken) });
}

interface NodeChanges {
  readonly written: FieldSet | undefined;
  readonly removed: FieldSet | undefined;
}

export function plainCompare(before: JsonValue, after: JsonValue, shape: Shape): Changes {
  const found = compareNodes(before, after, shape);
  return { written: found?.written ?? EMPTY, removed: found?.removed ?? EMPTY };
}

/** Undefined: nothing changed. Otherwise the nodes to hang below the value's own path. */
function compareNodes(before: JsonValue, after: JsonValue, shape: Shape): NodeChanges | undefined {
  if (identical(before, after)) return undefined;
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

/** Undefined for two values that have nothing in common. null has the shape of the other. */
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
    if (value !== undefined) changes.add(partOf(shape, key), own(before, key), value);
  }
  for (const key of Object.keys(before)) {
    const value = before[key];
    if (value !== undefined && own(after, key) === undefined) {
      changes.add(partOf(shape, key), value, undefined);
    }
  }
  return changes;
}

/** A map may have a key `constructor`, which every object inherits. */
const own = (object: JsonObject, key: string): JsonValue | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

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

/** Items with the same identity are compared as one. */
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
    else if (!identical(mine, theirs)) {
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
  const out: Record<string, FieldSet> = { [SELF]: LEAF };
  for (const key of keys) {
    const part = partOf(shape, key);
    out[part.element] = everythingIn(object[key] ?? null, part.shape);
  }
  return out;
}

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
