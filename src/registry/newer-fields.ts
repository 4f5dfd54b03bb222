import type { TypeLibrary } from '../api/idl/types.ts';
import { toApiVersion } from '../api/names.ts';
import type { ApiObject, JsonObject, JsonValue, ManagedFieldsEntry, ObjectMeta } from '../api/object-meta.ts';
import { type FieldSchema, type MessageSchema, messageIn } from '../api/schema.ts';
import { equal } from '../object/equality.ts';
import { isObject } from '../object/json-values.ts';
import {
  difference,
  type FieldSet,
  fieldElement,
  isEmpty,
  sorted,
  union,
} from '../object/managed-fields/field-set.ts';
import type { ResourceDefinition } from './resource-definition.ts';

/**
 * Keeps what newer versions of Kubernetes stored. A server that emulates an older version does not know some fields of stored
 * objects, and clients of that version do not send them back. An update takes them out before its first step, so that rules,
 * plugins and patches see the object as the emulated version has it, and puts them back before the commit. They go with
 * the part that has them: with the value that the update removed, with the item of a list that it removed or, in a list
 * without keys, changed.
 */
export class NewerFields {
  readonly #types: TypeLibrary;
  readonly #branches = new Map<string, readonly Branch[]>();

  constructor(types: TypeLibrary) {
    this.#types = types;
  }

  /** Takes the fields out of `object`, and its owners' claims to them. */
  takeOut({ storage, custom }: Pick<ResourceDefinition, 'storage' | 'custom'>, object: ApiObject): TakenOut {
    if (custom !== undefined) return NOTHING;
    const branches = this.#branchesOf(this.#types.message(storage.type));
    const taken = branches.length === 0 ? NOTHING : takeFrom(object, branches);
    if (taken === undefined) return NOTHING;
    const owners = takeFromOwners(object, toApiVersion(storage), branches);
    return together(owners === undefined ? [taken] : [taken, owners]);
  }

  /** The newer fields of a message and the fields that lead to some. Recursive types lead back to the same list. */
  #branchesOf(message: MessageSchema): readonly Branch[] {
    const known = this.#branches.get(message.name);
    if (known !== undefined) return known;
    const branches: Branch[] = [];
    this.#branches.set(message.name, branches);
    for (const name of this.#types.newerFields(message.name)) branches.push({ kind: 'newer', name });
    for (const field of message.fields.values()) {
      const inner = messageIn(field.value);
      if (inner !== undefined && this.#leadsToNewer(inner, new Set()))
        branches.push({ ...formOf(field), name: field.name, inside: this.#branchesOf(inner) });
    }
    return branches;
  }

  #leadsToNewer(message: MessageSchema, seen: Set<string>): boolean {
    if (seen.has(message.name)) return false;
    seen.add(message.name);
    if (this.#types.newerFields(message.name).length > 0) return true;
    return [...message.fields.values()].some((field) => {
      const inner = messageIn(field.value);
      return inner !== undefined && this.#leadsToNewer(inner, seen);
    });
  }
}

/** `keys`: of the items of a list; none where a list has none. */
type Branch =
  | { readonly kind: 'newer'; readonly name: string }
  | {
      readonly kind: 'message' | 'map' | 'list';
      readonly name: string;
      readonly keys: readonly string[];
      readonly inside: readonly Branch[];
    };

/** What was taken out of a value, by the way to it; undefined: nothing. */
type TakenOut = ((object: JsonObject) => void) | undefined;

const NOTHING: TakenOut = undefined;

/** Puts back what {@link NewerFields.takeOut} took out. */
export const putBack = (taken: TakenOut, object: JsonObject): void => taken?.(object);

const formOf = ({
  value,
  listMapKeys,
  patchMergeKey,
}: FieldSchema): { kind: 'message' | 'map' | 'list'; keys: readonly string[] } => ({
  kind: value.kind === 'map' || value.kind === 'list' ? value.kind : 'message',
  keys: listMapKeys.length > 0 || patchMergeKey === undefined ? listMapKeys : [patchMergeKey],
});

function takeFrom(owner: JsonObject, branches: readonly Branch[]): TakenOut {
  const all: NonNullable<TakenOut>[] = [];
  for (const branch of branches) {
    const value = owner[branch.name];
    if (value === undefined || value === null) continue;
    const taken = takeField(owner, value, branch);
    if (taken !== undefined) all.push(taken);
  }
  return together(all);
}

function together(all: readonly NonNullable<TakenOut>[]): TakenOut {
  if (all.length === 0) return NOTHING;
  return (object) => {
    for (const back of all) back(object);
  };
}

function takeField(owner: JsonObject, value: JsonValue, branch: Branch): TakenOut {
  const { name } = branch;
  if (branch.kind === 'newer') {
    delete owner[name];
    return (object) => {
      object[name] ??= value;
    };
  }
  if (branch.kind === 'list') return Array.isArray(value) ? takeFromList(value, branch) : NOTHING;
  if (!isObject(value)) return NOTHING;
  const taken = branch.kind === 'map' ? takeFromMap(value, branch.inside) : takeFrom(value, branch.inside);
  return taken && ((object) => within(object[name], taken));
}

function within(value: JsonValue | undefined, back: NonNullable<TakenOut>): void {
  if (value !== undefined && isObject(value)) back(value);
}

function takeFromMap(map: JsonObject, inside: readonly Branch[]): TakenOut {
  const all: NonNullable<TakenOut>[] = [];
  for (const [key, value] of Object.entries(map)) {
    const taken = value !== undefined && isObject(value) ? takeFrom(value, inside) : NOTHING;
    if (taken !== undefined) all.push((object) => within(object[key], taken));
  }
  return together(all);
}

/**
 * Takes newer fields out of what the owners of an object own, so that a write in the emulated version neither claims nor loses
 * them. Owners in another version than the stored one have other paths, and keep them.
 */
function takeFromOwners({ metadata }: ApiObject, apiVersion: string, branches: readonly Branch[]): TakenOut {
  const all: { readonly owner: ManagedFieldsEntry; readonly newer: FieldSet }[] = [];
  for (const owner of metadata.managedFields ?? []) {
    if (owner.apiVersion !== apiVersion) continue;
    const owned = setOfOwner(owner);
    const newer = newerIn(owned, branches);
    if (isEmpty(newer)) continue;
    all.push({ owner: { ...owner }, newer });
    owner.fieldsV1 = toJson(difference(owned, newer));
  }
  if (all.length === 0) return NOTHING;
  return ({ metadata: now }) => {
    const owners = isObject(now) ? (now as ObjectMeta).managedFields : undefined;
    // A client may have removed all of them.
    if (owners === undefined) return;
    for (const { owner, newer } of all) {
      const left = owners.find((one) => isOwner(one, owner));
      if (left === undefined) owners.push({ ...owner, fieldsV1: toJson(newer) });
      else left.fieldsV1 = toJson(sorted(union(setOfOwner(left), newer)));
    }
  };
}

// The stored JSON of a set is its working form.
const setOfOwner = ({ fieldsV1 = {} }: ManagedFieldsEntry): FieldSet => fieldsV1 as unknown as FieldSet;
const toJson = (set: FieldSet): JsonObject => set as unknown as JsonObject;

const isOwner = (one: ManagedFieldsEntry, other: ManagedFieldsEntry): boolean =>
  one.manager === other.manager &&
  one.operation === other.operation &&
  one.apiVersion === other.apiVersion &&
  (one.subresource ?? '') === (other.subresource ?? '');

function newerIn(owned: FieldSet, branches: readonly Branch[]): FieldSet {
  const found: Record<string, FieldSet> = {};
  for (const branch of branches) {
    const name = fieldElement(branch.name);
    const node = owned[name];
    if (node === undefined) continue;
    if (branch.kind === 'newer') found[name] = node;
    else {
      const { kind, inside } = branch;
      const below = kind === 'message' ? newerIn(node, inside) : newerInItems(node, inside);
      if (!isEmpty(below)) found[name] = below;
    }
  }
  return found;
}

function newerInItems(items: FieldSet, inside: readonly Branch[]): FieldSet {
  const found: Record<string, FieldSet> = {};
  for (const [element, item] of Object.entries(items)) {
    const below = newerIn(item, inside);
    if (!isEmpty(below)) found[element] = below;
  }
  return found;
}

type ListBranch = Exclude<Branch, { readonly kind: 'newer' }>;

function takeFromList(list: readonly JsonValue[], { name, keys, inside }: ListBranch): TakenOut {
  const all: { readonly item: JsonObject; readonly back: NonNullable<TakenOut> }[] = [];
  for (const item of list) {
    const back = isObject(item) ? takeFrom(item, inside) : NOTHING;
    if (back !== undefined && isObject(item))
      all.push({ item: keys.length > 0 ? item : structuredClone(item), back });
  }
  if (all.length === 0) return NOTHING;
  return (object) => {
    const now = object[name];
    const items = Array.isArray(now) ? now.filter(isObject) : [];
    const matches = items.map((item) => all.find((one) => isSame(item, one.item, keys)));
    for (const [at, item] of items.entries()) matches[at]?.back(item);
  };
}

const isSame = (item: JsonObject, other: JsonObject, keys: readonly string[]): boolean =>
  keys.length === 0 ? equal(item, other) : keys.every((key) => equal(item[key], other[key]));
