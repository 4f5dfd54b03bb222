import type { ManagedFieldsEntry } from '../../api/object-meta.ts';
import { equalExcept } from '../equality.ts';
import { parsePlainly } from '../exact-json.ts';
import { EMPTY, type FieldSet, isEmpty, LEAF, parseFieldSet, sorted, unionOf } from './field-set.ts';

/** An owner of fields of an object: an entry of metadata.managedFields. */
export interface Owner {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  /** The version of the paths in `fields`. */
  readonly apiVersion: string;
  readonly subresource: string;
  /** RFC 3339 in whole seconds; undefined: unknown. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

type Identity = Pick<Owner, 'manager' | 'operation' | 'apiVersion' | 'subresource'>;

/** Updates of one manager in two versions are two owners; applying is one for all versions. */
export const isSameOwner = (a: Identity, b: Identity): boolean =>
  a.manager === b.manager &&
  a.operation === b.operation &&
  a.subresource === b.subresource &&
  (a.operation === 'Apply' || a.apiVersion === b.apiVersion);

/** Entries of a request are checked; stored ones are known to be valid. */
type Origin = 'stored' | 'request';

/**
 * Undefined: an entry is invalid, and all are ignored. The sets of a request are in any order, and the last of one owner's
 * entries counts.
 */
export function parseOwners(
  entries: readonly ManagedFieldsEntry[] | undefined,
  origin: Origin,
): Owner[] | undefined {
  const owners = new Map<string | number, Owner>();
  for (const [at, entry] of (entries ?? []).entries()) {
    const owner = parseOwner(entry, origin);
    if (owner === undefined) return undefined;
    const key = origin === 'request' ? keyOf(owner) : at;
    owners.delete(key);
    owners.set(key, owner);
  }
  return [...owners.values()];
}

/** The same for two entries that {@link isSameOwner} finds to be of one owner. */
const keyOf = ({ manager, operation, subresource, apiVersion }: Identity): string =>
  JSON.stringify([manager, operation, subresource, operation === 'Apply' ? '' : apiVersion]);

function parseOwner(entry: ManagedFieldsEntry, origin: Origin): Owner | undefined {
  const {
    manager = '',
    operation,
    apiVersion = '',
    subresource = '',
    time,
    fieldsType,
    fieldsV1 = {},
  } = entry;
  if (operation !== 'Apply' && operation !== 'Update') return undefined;
  if (apiVersion === '' || fieldsType !== 'FieldsV1') return undefined;
  const fields = origin === 'request' ? parseFieldSet(fieldsV1) : (fieldsV1 as unknown as FieldSet);
  if (fields === undefined) return undefined;
  return { manager, operation, apiVersion, subresource, time, fields };
}

/** In the order of Kubernetes: appliers before updaters, then by time and name. Leaves out owners without fields. */
export function toEntries(owners: readonly Owner[]): ManagedFieldsEntry[] {
  return owners
    .filter(({ fields }) => !isEmpty(fields))
    .sort(compareOwners)
    .map(({ manager, operation, apiVersion, subresource, time, fields }) => ({
      manager,
      operation,
      apiVersion,
      ...(time === undefined ? {} : { time }),
      fieldsType: 'FieldsV1',
      fieldsV1: fields as ManagedFieldsEntry['fieldsV1'] & object,
      ...(subresource === '' ? {} : { subresource }),
    }));
}

function compareOwners(a: Owner, b: Owner): number {
  return (
    order(a.operation, b.operation) ||
    order(a.time ?? '', b.time ?? '') ||
    order(a.manager, b.manager) ||
    order(a.apiVersion, b.apiVersion) ||
    order(a.subresource, b.subresource)
  );
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The owners with `owner` in place of the one that has its identity. */
export function withOwner(owners: readonly Owner[], owner: Owner): Owner[] {
  const rest = owners.filter((other) => !isSameOwner(other, owner));
  return [...rest, { ...owner, fields: sorted(owner.fields) }];
}

/** Beyond this many updaters the oldest of each version are merged, so that objects with many writers stay small. */
const MAX_UPDATERS = 10;
const OLD_UPDATES = 'ancient-changes';

export function capUpdaters(owners: readonly Owner[]): Owner[] {
  const updaters = owners.filter(({ operation }) => operation === 'Update').sort(compareOwners);
  let excess = updaters.length - MAX_UPDATERS;
  if (excess <= 0) return [...owners];
  const buckets = new Map<string, Bucket>();
  for (const owner of updaters) {
    if (excess <= 0) break;
    const bucket = buckets.get(owner.apiVersion);
    if (bucket === undefined) buckets.set(owner.apiVersion, { owners: [owner] });
    else {
      bucket.owners.push(owner);
      excess -= 1;
    }
  }
  const filled = [...buckets.values()].filter((bucket) => bucket.owners.length > 1);
  const gone = new Set(filled.flatMap((bucket) => bucket.owners));
  const kept = owners.filter((owner) => !gone.has(owner));
  return filled.reduce<Owner[]>((out, bucket) => emptyInto(out, bucket), kept);
}

/** For one version, oldest first. */
interface Bucket {
  readonly owners: Owner[];
}

/** Replaces the owners of a bucket by one that owns the fields of all. */
function emptyInto(kept: readonly Owner[], { owners }: Bucket): Owner[] {
  const last = owners.at(-1);
  if (last === undefined) return [...kept];
  const one: Owner = { ...last, manager: OLD_UPDATES, subresource: '' };
  const fields = owners.map((owner) => owner.fields);
  return withOwner(kept, { ...one, fields: unionOf([fieldsOwnedBy(kept, one), ...fields]) });
}

export const fieldsOwnedBy = (owners: readonly Owner[], identity: Identity): FieldSet =>
  owners.find((owner) => isSameOwner(owner, identity))?.fields ?? EMPTY;

/** Whether two lists are equal but for the times of their entries. */
export function sameOwners(
  a: readonly ManagedFieldsEntry[] = [],
  b: readonly ManagedFieldsEntry[] = [],
): boolean {
  return a.length === b.length && a.every((entry, at) => equalExcept(entry, b[at] ?? {}, ['time']));
}

/** Total length of the texts of one generation. Their sets take three times as much memory. */
const GENERATION_CHARS = 512 * 1024;
/** The least time that a generation lasts. */
const MIN_GENERATION_MS = 10_000;

/**
 * Remembers the sets of stored objects by their text. The objects of one controller have the same sets, and an object has the
 * same sets from write to write, so half of a pod's JSON is neither parsed again nor written again.
 *
 * A set that is not used while a whole generation fills up is forgotten. A generation that is full takes no more sets until it
 * has lasted {@link MIN_GENERATION_MS}: remembering a set costs as much as parsing it, and the sets of a long list may all be
 * met only once.
 */
export class KnownSets {
  readonly #now: () => number;
  #young = new Map<string, FieldSet>();
  #old: ReadonlyMap<string, FieldSet> = new Map();
  #youngChars = 0;
  #begunAt: number;
  readonly #texts = new WeakMap<object, string>();

  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#begunAt = now();
  }

  /** Remembered sets are frozen, because they become part of many objects. @throws SyntaxError */
  parse(text: string): FieldSet {
    const young = this.#young.get(text);
    if (young !== undefined) return young;
    const old = this.#old.get(text);
    const set = old ?? (parsePlainly(text) as unknown as FieldSet);
    // A substring holds the whole text in memory, so a copy is remembered instead.
    if (this.#hasRoom() || old !== undefined)
      this.#remember(this.#texts.get(set) ?? Buffer.from(text).toString(), set);
    return set;
  }

  textOf(set: object): string | undefined {
    return this.#texts.get(set);
  }

  #hasRoom(): boolean {
    if (this.#youngChars <= GENERATION_CHARS) return true;
    const now = this.#now();
    if (now - this.#begunAt < MIN_GENERATION_MS) return false;
    this.#begunAt = now;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngChars = 0;
    return true;
  }

  #remember(text: string, set: FieldSet): void {
    freeze(set);
    this.#young.set(text, set);
    this.#youngChars += text.length;
    this.#texts.set(set, text);
  }
}

function freeze(set: FieldSet): void {
  if (Object.isFrozen(set)) return;
  for (const element in set) freeze(set[element] ?? {});
  Object.freeze(set);
}

const known = new KnownSets();

/** The set that a text describes. Other objects may share it. @throws SyntaxError */
export const parseSet = (text: string): FieldSet => known.parse(text);

/**
 * The JSON of new sets that many objects share. It is half of a new pod's JSON and the same for all pods with the same fields;
 * writing it for each pod takes 17 of the 35 µs in which a pod becomes text. Undefined for a set so short that writing it is
 * as quick as inserting its text.
 */
const texts = new WeakMap<object, string | undefined>();
const MIN_CHARS = 1024;

/** For a set that several objects share. Most parts of a new set are known: pods differ in their metadata alone. */
export function shareText(set: FieldSet): void {
  if (texts.has(set)) return;
  const parts: string[] = [];
  for (const element in set) parts.push(`${JSON.stringify(element)}:${textOfPart(set[element] ?? LEAF)}`);
  rememberText(set, `{${parts.join(',')}}`);
}

function textOfPart(set: FieldSet): string {
  const known = texts.get(set);
  if (known !== undefined) return known;
  const text = JSON.stringify(set);
  rememberText(set, text);
  return text;
}

function rememberText(set: FieldSet, text: string): void {
  texts.set(set, text.length < MIN_CHARS ? undefined : text);
}

/**
 * The text of a set that was parsed, or that is remembered; undefined for another one. `set`: as an entry of
 * metadata.managedFields has it.
 */
export const knownTextOf = (set: object): string | undefined => known.textOf(set) ?? texts.get(set);
