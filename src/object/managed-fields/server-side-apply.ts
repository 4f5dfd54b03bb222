import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { type Steps, waitFor } from '../../util/turns.ts';
import { equal } from '../equality.ts';
import { parseJson } from '../exact-json.ts';
import { goJson } from '../go-json.ts';
import { isObject, setField } from '../json-values.ts';
import { compare } from './compare.ts';
import {
  difference,
  EMPTY,
  type FieldSet,
  formatPath,
  has,
  intersection,
  isEmpty,
  pathsOf,
  sorted,
  union,
  without,
} from './field-set.ts';
import { type Conversion, fieldsOf, mergeConfig, type OwnedFields, prune } from './merge-config.ts';
import { isSameOwner, type Owner, parseOwners, withOwner } from './owners.ts';
import {
  loseFields,
  type OwnedVersion,
  setOwners,
  trackUpdate,
  Unconverted,
  VersionedChanges,
  type Writing,
  withoutOwners,
  withoutServerFields,
} from './track.ts';

/** Fields of a configuration that other owners have with other values. */
export class ApplyConflict extends Error {
  readonly conflicts: readonly Conflict[];

  constructor(conflicts: readonly Conflict[]) {
    super(`${conflicts.length} conflicts`);
    this.name = 'ApplyConflict';
    this.conflicts = conflicts;
  }
}

interface Conflict {
  readonly owner: Owner;
  /** Path elements (field-set.ts). */
  readonly path: readonly string[];
}

interface ApplyOptions {
  readonly force: boolean;
}

/** Objects from client-side kubectl apply change to server-side apply without conflicts. */
const KUBECTL = 'kubectl';

/**
 * Server-side apply: returns `live` with the configuration merged in, without the fields that its manager no longer applies,
 * and with updated ownership. All objects are in the writer's version; `live` is an empty object of the type when there is
 * none. The inputs are not changed.
 * @throws ApplyConflict unless `force`
 */
export function* applyInSteps(
  live: ApiObject,
  config: JsonObject,
  writing: Writing,
  { force }: ApplyOptions,
): Steps<ApiObject> {
  const applied = yield* tryApply(live, config, writing, force);
  if (writing.manager === KUBECTL) updateLastApplied(applied, config);
  return applied;
}

function* tryApply(live: ApiObject, config: JsonObject, writing: Writing, force: boolean): Steps<ApiObject> {
  try {
    return yield* applyOnce(live, config, writing, force);
  } catch (error) {
    if (!(error instanceof ApplyConflict) || writing.manager !== KUBECTL) throw error;
    const allowed = ownedByLastApplied(live, writing.version);
    const left = error.conflicts.filter(({ path }) => !has(allowed, path));
    if (left.length > 0) throw new ApplyConflict(left);
    return yield* applyOnce(live, config, writing, true);
  }
}

function* applyOnce(live: ApiObject, config: JsonObject, writing: Writing, force: boolean): Steps<ApiObject> {
  const { version, reset, subresource } = writing;
  const owners = ownersOf(live, writing);
  const before = withoutOwners(live);
  const identity = {
    manager: writing.manager,
    operation: 'Apply',
    apiVersion: version.apiVersion,
    subresource,
  } as const;
  const last = owners.find((owner) => isSameOwner(owner, identity));
  const named = fieldsOf(config, version.shape);
  yield;
  const wanted = without(named, reset);
  yield;
  const claimed = withOwner(owners, { ...identity, time: last?.time, fields: wanted });
  yield;
  const merged = mergeConfig(before, config, version.shape);
  yield;
  const dropped = last !== undefined && dropsFields(last, wanted, writing);
  const object = dropped ? yield* pruneOld(merged, last, claimed, writing) : merged;
  yield;
  const left = yield* settle({ before, object, writing, force, claimed, identity });
  yield;
  const fields = sorted(withoutServerFields(wanted));
  yield;
  // An apply that changes the ownership alone keeps its time, and has none when its manager is new.
  const time = equal(before, object) ? last?.time : writing.now;
  yield;
  const result = { ...object, metadata: object.metadata ?? {} } as ApiObject;
  setOwners(result, [...left, { ...identity, time, fields }]);
  return result;
}

/** Whether the manager dropped fields that it applied before, so that they must be pruned. Most configurations drop none. */
function dropsFields(last: Owner, wanted: FieldSet, { version }: Writing): boolean {
  return last.apiVersion !== version.apiVersion || !isEmpty(difference(last.fields, wanted));
}

/** The fields of an object without owners get the owner `before-first-apply`. */
function ownersOf(live: ApiObject, writing: Writing): readonly Owner[] {
  const known = parseOwners(live.metadata.managedFields, 'stored') ?? [];
  if (known.length > 0 || live.metadata.uid === undefined) return known;
  const copy = withoutOwners(live);
  trackUpdate(copy, undefined, { ...writing, manager: 'before-first-apply' });
  return parseOwners(copy.metadata.managedFields, 'stored') ?? [];
}

/** @throws StatusError when a version is unavailable */
function* pruneOld(
  merged: JsonObject,
  last: Owner,
  owners: readonly Owner[],
  writing: Writing,
): Steps<JsonObject> {
  const from = writing.version;
  const lastVersion = writing.findVersion(last.apiVersion);
  if (lastVersion === undefined) return merged;
  const toLast = between(from, lastVersion);
  const versions = [last.apiVersion, ...owners.map(({ apiVersion }) => apiVersion)];
  const inEach = [...new Set(versions)].flatMap((apiVersion): OwnedFields[] => {
    const version = writing.findVersion(apiVersion);
    if (version === undefined) return [];
    const owned = owners
      .filter((owner) => owner.apiVersion === apiVersion)
      .reduce<FieldSet>((set, { fields }) => union(set, fields), EMPTY);
    return [{ shape: version.shape, owned, ...between(lastVersion, version) }];
  });
  const there = yield* toLast.convert([merged]);
  const pruned = yield* prune(there[0] ?? merged, last.fields, lastVersion.shape, inEach);
  return (yield* toLast.convertBack([pruned]))[0] ?? pruned;
}

// biome-ignore lint/correctness/useYield: nothing is to be done
const unchanged: Conversion = function* keep(objects) {
  return objects;
};

/** Conversion between two versions passes through the stored form. */
function between(a: OwnedVersion, b: OwnedVersion): Pick<OwnedFields, 'convert' | 'convertBack'> {
  if (a.shape === b.shape) return { convert: unchanged, convertBack: unchanged };
  return { convert: passing(a, b), convertBack: passing(b, a) };
}

function passing(from: OwnedVersion, to: OwnedVersion): Conversion {
  return function* pass(objects) {
    try {
      const back = from.convertBack(from.isTyped === true ? objects.map(withoutNulls) : objects);
      const made = to.convert(back instanceof Promise ? yield* waitFor(back) : back);
      return made instanceof Promise ? yield* waitFor(made) : made;
    } catch (error) {
      throw new Unconverted('merged object to last applied version', error);
    }
  };
}

/** Returns the object without fields that are null; items of lists stay. */
function withoutNulls(object: JsonObject): JsonObject {
  const out: JsonObject = {};
  for (const [name, value] of Object.entries(object)) {
    if (value === null || value === undefined) continue;
    setField(out, name, isObject(value) ? withoutNulls(value) : value);
  }
  return out;
}

interface Settlement {
  readonly before: JsonObject;
  readonly object: JsonObject;
  readonly writing: Writing;
  readonly force: boolean;
  readonly claimed: readonly Owner[];
  readonly identity: Pick<Owner, 'manager' | 'operation' | 'apiVersion' | 'subresource'>;
}

/** The other owners, each without the fields that it loses. @throws ApplyConflict */
function* settle({ before, object, writing, force, claimed, identity }: Settlement): Steps<Owner[]> {
  const others = claimed.filter((owner) => !isSameOwner(owner, identity));
  const conflicts: Conflict[] = [];
  const left: Owner[] = [];
  const versions = new VersionedChanges({ object, old: before, writing });
  for (const owner of others) {
    const changes = yield* versions.in(owner.apiVersion);
    yield;
    if (changes === undefined) continue;
    const taken = intersection(owner.fields, changes.written);
    if (!isEmpty(taken)) for (const path of pathsOf(taken)) conflicts.push({ owner, path });
    yield;
    left.push(yield* loseFields(owner, changes));
  }
  if (conflicts.length > 0 && !force) throw new ApplyConflict(conflicts);
  return left;
}

/** `"kubectl" using apps/v1`: for appliers, the name alone. */
export function describeOwner({ manager, operation, apiVersion, subresource }: Owner): string {
  const name = `${JSON.stringify(manager)}${subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`}`;
  return operation === 'Apply' ? name : `${name} using ${apiVersion}`;
}

/** Further conflicts are counted, not listed. */
export const MAX_DESCRIBED = 1000;

/** Every conflict of one manager below its name. */
export function describeConflicts(conflicts: readonly Conflict[]): string {
  const [first, ...more] = conflicts;
  if (first === undefined) return 'Apply failed';
  if (more.length === 0) {
    return `Apply failed with 1 conflict: conflict with ${describeOwner(first.owner)}: ${formatPath(first.path)}`;
  }
  const byOwner = Map.groupBy(conflicts.slice(0, MAX_DESCRIBED), ({ owner }) => describeOwner(owner));
  const parts = [...byOwner]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, own]) =>
      [`conflicts with ${name}:`, ...own.map(({ path }) => `- ${formatPath(path)}`)].join('\n'),
    );
  return `Apply failed with ${conflicts.length} conflicts: ${parts.join('\n')}`;
}

/** The annotation in which client-side kubectl apply keeps its configuration. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
/** Limit of all annotations of an object together. A configuration that exceeds it is left out. */
const MAX_ANNOTATIONS_BYTES = 256 * 1024;

/** Fields that client-side kubectl apply set and that still have its value. */
function ownedByLastApplied(live: ApiObject, { apiVersion, shape }: OwnedVersion): FieldSet {
  const applied = parse(live.metadata.annotations?.[LAST_APPLIED]);
  if (applied === undefined || applied.apiVersion !== apiVersion) return EMPTY;
  const { written, removed } = compare(applied, live, shape);
  return difference(difference(fieldsOf(applied, shape), written), removed);
}

function parse(text: string | undefined): JsonObject | undefined {
  try {
    const value = parseJson(text ?? 'null');
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Updates the annotation of client-side apply where an object has it, for clients that still use it. */
function updateLastApplied(object: ApiObject, config: JsonObject): void {
  const { annotations } = object.metadata;
  if ((annotations?.[LAST_APPLIED] ?? '') === '') return;
  const kept = { ...annotations };
  kept[LAST_APPLIED] = `${goJson(withoutAnnotation(config))}\n`;
  const sizeBytes = Object.entries(kept).reduce(
    (sum, [key, value]) => sum + key.length + Buffer.byteLength(value),
    0,
  );
  if (sizeBytes > MAX_ANNOTATIONS_BYTES) delete kept[LAST_APPLIED];
  object.metadata = { ...object.metadata, annotations: kept };
}

function withoutAnnotation(config: JsonObject): JsonObject {
  const metadata = isObject(config.metadata) ? config.metadata : {};
  if (!isObject(metadata.annotations)) return config;
  const { [LAST_APPLIED]: _, ...annotations } = metadata.annotations;
  return { ...config, metadata: { ...metadata, annotations } };
}
