import type { ApiObject, JsonObject, ManagedFieldsEntry, ObjectMeta } from '../../api/object-meta.ts';
import { errorText } from '../../util/error-text.ts';
import { atOnce, type Steps, waitFor } from '../../util/turns.ts';
import { equal } from '../equality.ts';
import { type Changes, compare, everythingNewIn } from './compare.ts';
import {
  difference,
  type FieldSet,
  includes,
  isEmpty,
  overlaps,
  setOf,
  sorted,
  union,
  without,
} from './field-set.ts';
import {
  capUpdaters,
  fieldsOwnedBy,
  isSameOwner,
  type Owner,
  parseOwners,
  shareText,
  toEntries,
  withOwner,
} from './owners.ts';
import { emptyObject, type Shape } from './shape.ts';

/** An object type in one version, as far as ownership is concerned. */
export interface OwnedVersion {
  readonly apiVersion: string;
  readonly shape: Shape;
  /**
   * Converts from the form that {@link trackUpdate} gets to this version's form. Only versions other than the writer's may
   * return a promise: a webhook may convert to them.
   */
  convert(objects: readonly JsonObject[]): Converted;
  convertBack(objects: readonly JsonObject[]): Converted;
  /** Its conversions read typed fields, in which null is no value: nulls of an apply count as absent. */
  readonly isTyped?: boolean;
}

export type Converted = readonly JsonObject[] | Promise<readonly JsonObject[]>;

/** Converts to the writer's version, which never returns a promise. */
function inOwn({ apiVersion, convert }: OwnedVersion, object: JsonObject): JsonObject {
  const converted = convert([object]);
  if (converted instanceof Promise) throw new Error(`${apiVersion} is written, and objects are not in it`);
  return converted[0] ?? object;
}

/** The facts about a write that decide about ownership. */
export interface Writing {
  /** '' is recorded as `unknown`. */
  readonly manager: string;
  readonly subresource: string;
  /** The version the writer speaks. */
  readonly version: OwnedVersion;
  /** Fields that this way of writing cannot change. */
  readonly reset: FieldSet;
  /** Undefined for a version that no longer exists; the owners in it are forgotten. */
  findVersion(apiVersion: string): OwnedVersion | undefined;
  /** RFC 3339 in whole seconds. */
  readonly now: string;
}

/** Fields that only the server writes have no owner. */
const SERVER_FIELDS = setOf(
  ['apiVersion'],
  ['kind'],
  ['metadata'],
  ['metadata', 'name'],
  ['metadata', 'namespace'],
  ['metadata', 'creationTimestamp'],
  ['metadata', 'selfLink'],
  ['metadata', 'uid'],
  ['metadata', 'clusterName'],
  ['metadata', 'generation'],
  ['metadata', 'managedFields'],
  ['metadata', 'resourceVersion'],
);

export const withoutServerFields = (set: FieldSet): FieldSet => difference(set, SERVER_FIELDS);

/**
 * Updates metadata.managedFields of `object` after a create (`old` undefined) or an update: the writer gains the fields that it
 * changed, the other owners lose them. An object that had no owners stays without.
 */
export const trackUpdate = (object: ApiObject, old: ApiObject | undefined, writing: Writing): void =>
  atOnce(trackInSteps(object, old, writing));

/** The same in steps, for large objects. */
export function* trackInSteps(object: ApiObject, old: ApiObject | undefined, writing: Writing): Steps<void> {
  const known = old?.metadata.managedFields;
  const given = object.metadata.managedFields;
  if (given === undefined && old === undefined) {
    setOwners(object, [toWriter(writing, yield* newFields(object, writing))]);
    return;
  }
  const sent = given !== undefined && writing.subresource === '' && !equal(given, known) ? given : undefined;
  const owners =
    sent === undefined ? (parseOwners(known, 'stored') ?? []) : yield* ownersFromRequest(sent, known);
  if (given !== undefined) moveOwnersLast(object.metadata);
  if (owners.length === 0 && old !== undefined) {
    delete object.metadata.managedFields;
    return;
  }
  yield;
  const changes = changesOfWriter(old, object, writing);
  yield;
  const unchanged = isEmpty(changes.written) && isEmpty(changes.removed);
  if (unchanged && sent === undefined && known !== undefined) {
    object.metadata.managedFields = known;
    return;
  }
  try {
    const left = yield* ownersAfterUpdate(
      owners,
      changes,
      new VersionedChanges({ object, old, writing }, changes),
    );
    yield;
    setOwners(object, capUpdaters(left));
  } catch (error) {
    if (!(error instanceof Unconverted)) throw error;
    // A write does not wait for another version; its ownership is lost, as in Kubernetes.
    delete object.metadata.managedFields;
  }
}

/**
 * Makes managedFields the last field of the metadata, by deleting it unless it is the last one already. Objects that lost a
 * field take twice as long to read from then on, so it is not deleted without need.
 */
function moveOwnersLast(metadata: ObjectMeta): void {
  let isLast = true;
  for (const key in metadata) isLast = key === 'managedFields' || (isLast && key === 'resourceVersion');
  if (!isLast) delete metadata.managedFields;
}

/** The fields that the creator of an object owns. Objects with the same fields share one set. */
function* newFields(object: ApiObject, { version, reset }: Writing): Steps<FieldSet> {
  const everything = everythingNewIn(inOwn(version, object), version.shape);
  yield;
  let known = ownFields.get(everything);
  if (known?.reset !== reset) {
    known = { reset, fields: sorted(withoutServerFields(without(everything, reset))) };
    ownFields.set(everything, known);
  } else shareText(known.fields);
  return known.fields;
}

const ownFields = new WeakMap<FieldSet, { readonly reset: FieldSet; readonly fields: FieldSet }>();

const toWriter = ({ manager, subresource, version, now }: Writing, fields: FieldSet): Owner => ({
  manager: manager === '' ? 'unknown' : manager,
  operation: 'Update',
  apiVersion: version.apiVersion,
  subresource,
  time: now,
  fields,
});

/** A client may set the owners itself: an empty list removes all, and a list that cannot be parsed changes nothing. */
function* ownersFromRequest(
  given: readonly ManagedFieldsEntry[],
  known: readonly ManagedFieldsEntry[] | undefined,
): Steps<Owner[]> {
  const [first] = given;
  const reset = given.length === 0 || (given.length === 1 && Object.keys(first ?? {}).length === 0);
  if (reset) return [];
  const owners = parseOwners(given, 'request');
  // Stored sets are in order already, so that a writer's set can stay the same object.
  if (owners === undefined || owners.length === 0) return parseOwners(known, 'stored') ?? [];
  const inOrder: Owner[] = [];
  for (const owner of owners) {
    yield;
    inOrder.push({ ...owner, fields: sorted(owner.fields) });
  }
  return inOrder;
}

function changesOfWriter(
  old: ApiObject | undefined,
  object: ApiObject,
  { version, reset }: Writing,
): Changes {
  const { shape } = version;
  const before = old === undefined ? blank(shape) : inOwn(version, old);
  return restrict(compare(before, inOwn(version, object), shape), reset);
}

const restrict = ({ written, removed }: Changes, reset: FieldSet): Changes => ({
  written: without(written, reset),
  removed: without(removed, reset),
});

const blank = (shape: Shape): JsonObject => (shape.kind === 'struct' ? emptyObject(shape.schema) : {});

export function withoutOwners(object: ApiObject): ApiObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

interface Update {
  readonly object: JsonObject;
  readonly old: JsonObject | undefined;
  readonly writing: Writing;
}

/** An object is unavailable in the version of one of its owners. */
export class Unconverted extends Error {
  constructor(what: string, cause: unknown) {
    super(`failed to convert ${what}: ${errorText(cause)}`, { cause });
    this.name = 'Unconverted';
  }
}

/** The changes of one write in the paths of each version that has owners. */
export class VersionedChanges {
  readonly #update: Update;
  /** In the writer's version, if known: nearly all owners use it. */
  readonly #own: Changes | undefined;
  /** Undefined for a version that no longer exists. */
  #others: Map<string, Changes | undefined> | undefined;

  constructor(update: Update, own?: Changes) {
    this.#update = update;
    this.#own = own;
  }

  get writing(): Writing {
    return this.#update.writing;
  }

  /** Undefined: they must be computed first. */
  known({ apiVersion }: Owner): Changes | undefined {
    return apiVersion === this.#update.writing.version.apiVersion ? this.#own : undefined;
  }

  /** @throws Unconverted */
  *in(apiVersion: string): Steps<Changes | undefined> {
    this.#others ??= new Map();
    if (!this.#others.has(apiVersion)) this.#others.set(apiVersion, yield* this.#find(apiVersion));
    return this.#others.get(apiVersion);
  }

  *#find(apiVersion: string): Steps<Changes | undefined> {
    const { object, old, writing } = this.#update;
    const version = writing.findVersion(apiVersion);
    if (version === undefined) return undefined;
    if (this.#own !== undefined && version.shape === writing.version.shape) return this.#own;
    const [before, after] = yield* converted(version, old, object);
    return restrict(compare(before, after, version.shape), writing.reset);
  }
}

/** @throws Unconverted */
function* converted(
  { shape, convert }: OwnedVersion,
  old: JsonObject | undefined,
  object: JsonObject,
): Steps<[before: JsonObject, after: JsonObject]> {
  try {
    const made = convert(old === undefined ? [object] : [old, object]);
    const objects = made instanceof Promise ? yield* waitFor(made) : made;
    return [old === undefined ? blank(shape) : (objects[0] ?? {}), objects.at(-1) ?? {}];
  } catch (error) {
    throw new Unconverted('old object', error);
  }
}

function* ownersAfterUpdate(
  owners: readonly Owner[],
  changes: Changes,
  versions: VersionedChanges,
): Steps<Owner[]> {
  const taken = withoutServerFields(changes.written);
  yield;
  if (isEmpty(taken)) return yield* afterLosses(owners, versions);
  const writer = toWriter(versions.writing, taken);
  const own = owners.find((owner) => isSameOwner(owner, writer));
  if (own !== undefined && keepsAll(own, changes, taken)) {
    const others = owners.filter((owner) => !isSameOwner(owner, writer));
    return [...(yield* afterLosses(others, versions)), { ...writer, fields: own.fields }];
  }
  const left = yield* afterLosses(owners, versions);
  yield;
  const fields = union(fieldsOwnedBy(left, writer), taken);
  yield;
  return withOwner(left, { ...writer, fields });
}

/** Whether the writer owned all that it wrote and loses nothing, as most writers do. */
const keepsAll = ({ fields }: Owner, { written, removed }: Changes, taken: FieldSet): boolean =>
  includes(fields, taken) && !overlaps(fields, removed) && !overlaps(fields, difference(written, taken));

function* afterLosses(owners: readonly Owner[], versions: VersionedChanges): Steps<Owner[]> {
  const left: Owner[] = [];
  for (const owner of owners) {
    const theirs = versions.known(owner) ?? (yield* versions.in(owner.apiVersion));
    yield;
    if (theirs !== undefined) left.push(yield* loseFields(owner, theirs));
  }
  return left;
}

export function* loseFields(owner: Owner, { written, removed }: Changes): Steps<Owner> {
  if (!overlaps(owner.fields, written) && !overlaps(owner.fields, removed)) return owner;
  const kept = difference(owner.fields, written);
  yield;
  const fields = difference(kept, removed);
  yield;
  return { ...owner, fields: sorted(fields) };
}

export function setOwners(object: ApiObject, owners: readonly Owner[]): void {
  const entries = toEntries(owners);
  if (entries.length > 0) object.metadata.managedFields = entries;
  else delete object.metadata.managedFields;
}
