import type { TypeLibrary } from '../api/idl/types.ts';
import type { ApiObject, JsonObject, JsonValue } from '../api/object-meta.ts';
import { type FieldGate, type FieldSchema, type MessageSchema, messageIn } from '../api/schema.ts';
import { isObject } from '../object/json-values.ts';
import type { ResourceDefinition } from './resource-definition.ts';

/**
 * Drops fields of disabled features, which the IDL marks (`gate`). A new field is dropped silently, as in Kubernetes; one that
 * the stored object has was set while the feature was enabled, stays, and may be changed.
 */
export class GatedFields {
  readonly #isOn: (gate: string) => boolean;
  readonly #types: TypeLibrary;
  readonly #branches = new Map<string, Branch[]>();

  constructor(isOn: (gate: string) => boolean, types: TypeLibrary) {
    this.#isOn = isOn;
    this.#types = types;
  }

  /** Changes `object`, never `old`, which may share parts with it. */
  drop({ storage }: Pick<ResourceDefinition, 'storage'>, object: ApiObject, old?: ApiObject): void {
    const branches = this.#branchesOf(this.#types.message(storage.type), NOTHING);
    if (branches.length === 0) return;
    const hits = hitsIn(object, branches);
    if (hits.length === 0) return;
    const used = new Set(
      old === undefined ? [] : hitsIn(old, branches).map(({ branch }) => featureOf(branch)),
    );
    const cleaned = new Set<JsonObject>();
    for (const hit of hits) if (!isUsed(hit.branch, used)) takeAway(hit, cleaned);
  }

  /** The closed gates of a message and the fields that lead to them. Recursive types lead back to the same list. */
  #branchesOf(message: MessageSchema, ungated: ReadonlySet<string>): readonly Branch[] {
    const key = keyOf(message, ungated);
    const known = this.#branches.get(key);
    if (known !== undefined) return known;
    const branches: Branch[] = [];
    this.#branches.set(key, branches);
    for (const field of message.fields.values()) {
      if (this.#isClosed(field, ungated)) branches.push(toBranch(message, field, []));
      else if (this.#leadsToGate(field, ungated, new Set()))
        branches.push(this.#wayThrough(message, field, ungated));
    }
    return branches;
  }

  #wayThrough(message: MessageSchema, field: FieldSchema, ungated: ReadonlySet<string>): Branch {
    const inner = messageIn(field.value);
    const below = addTo(ungated, field.ungated);
    return toBranch(message, field, inner === undefined ? [] : this.#branchesOf(inner, below));
  }

  #isClosed({ name, gate }: FieldSchema, ungated: ReadonlySet<string>): boolean {
    return gate !== undefined && !ungated.has(name) && !gate.anyOf.some(this.#isOn);
  }

  #leadsToGate(field: FieldSchema, ungated: ReadonlySet<string>, seen: Set<string>): boolean {
    const message = messageIn(field.value);
    if (message === undefined) return false;
    const below = addTo(ungated, field.ungated);
    const key = keyOf(message, below);
    if (seen.has(key)) return false;
    seen.add(key);
    for (const inner of message.fields.values())
      if (this.#isClosed(inner, below) || this.#leadsToGate(inner, below, seen)) return true;
    return false;
  }
}

/** A field with a closed gate, or one that leads to such fields. */
interface Branch {
  readonly name: string;
  /** `core/v1.Volume.image` */
  readonly field: string;
  /** Undefined: a field that only leads to others. */
  readonly gate: FieldGate | undefined;
  readonly inside: readonly Branch[];
  readonly isMap: boolean;
  readonly dropEmpty: boolean;
}

/** A field of an object, with its parents. */
interface Place {
  readonly owner: JsonObject;
  readonly branch: Branch;
  readonly outer: Place | undefined;
}

const NOTHING: ReadonlySet<string> = new Set();

const keyOf = ({ name }: MessageSchema, ungated: ReadonlySet<string>): string => [name, ...ungated].join(' ');

const addTo = (names: ReadonlySet<string>, more: readonly string[]): ReadonlySet<string> =>
  more.length === 0 ? names : new Set([...names, ...more]);

const toBranch = (message: MessageSchema, field: FieldSchema, inside: readonly Branch[]): Branch => ({
  name: field.name,
  field: `${message.name}.${field.name}`,
  gate: inside.length === 0 ? field.gate : undefined,
  inside,
  isMap: field.value.kind === 'map',
  dropEmpty: field.dropEmpty,
});

function hitsIn(object: JsonObject, branches: readonly Branch[]): Place[] {
  const hits: Place[] = [];
  find(object, branches, undefined, hits);
  return hits;
}

function find(owner: JsonObject, branches: readonly Branch[], outer: Place | undefined, hits: Place[]): void {
  for (const branch of branches) {
    const value = owner[branch.name];
    if (value === undefined || value === null) continue;
    if (branch.gate === undefined) findInside(value, { owner, branch, outer }, hits);
    else if (value !== branch.gate.off) hits.push({ owner, branch, outer });
  }
}

function findInside(value: JsonValue, place: Place, hits: Place[]): void {
  if (typeof value !== 'object' || value === null) return;
  const { inside, isMap } = place.branch;
  if (Array.isArray(value)) for (const item of value) findInside(item, place, hits);
  else if (isMap) for (const item of Object.values(value)) findItem(item, place, hits);
  else find(value, inside, place, hits);
}

function findItem(value: JsonValue | undefined, place: Place, hits: Place[]): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    find(value, place.branch.inside, place, hits);
}

const featureOf = ({ name, gate }: Branch, field = name): string => `${gate?.anyOf.join('|')} ${field}`;

const isUsed = (branch: Branch, used: ReadonlySet<string>): boolean =>
  used.size > 0 &&
  [branch.name, ...(branch.gate?.usedBy ?? [])].some((field) => used.has(featureOf(branch, field)));

/** `cleaned`: pod specs whose image volumes have been removed already, all at once. */
function takeAway({ owner, branch: { name, field, gate }, outer }: Place, cleaned: Set<JsonObject>): void {
  if (field === 'core/v1.Volume.image') {
    if (outer === undefined || cleaned.has(outer.owner)) return;
    cleaned.add(outer.owner);
    dropImageVolumes(outer.owner);
  } else if (gate?.off !== undefined) {
    owner[name] = gate.off;
  } else {
    delete owner[name];
    dropEmptied(owner, outer);
  }
}

function dropEmptied(owner: JsonObject, place: Place | undefined): void {
  if (place?.branch.dropEmpty !== true || !isEmpty(owner)) return;
  delete place.owner[place.branch.name];
  dropEmptied(place.owner, place.outer);
}

const isEmpty = (object: JsonObject): boolean => Object.values(object).every((value) => value === undefined);

const CONTAINERS = ['containers', 'initContainers', 'ephemeralContainers'];

/** Removes image volumes with their mounts: a volume without a source would be refused. */
function dropImageVolumes(podSpec: JsonObject): void {
  const volumes = objects(podSpec.volumes);
  const names = new Set(volumes.filter(({ image }) => image !== undefined).map(({ name }) => name));
  podSpec.volumes = volumes.filter(({ image }) => image === undefined);
  for (const container of CONTAINERS.flatMap((list) => objects(podSpec[list]))) {
    if (container.volumeMounts === undefined) continue;
    container.volumeMounts = objects(container.volumeMounts).filter(({ name }) => !names.has(name));
  }
}

const objects = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];
