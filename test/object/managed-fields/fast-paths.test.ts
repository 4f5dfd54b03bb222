import { expect, test } from 'vitest';
import { loadTypes } from '../../../src/api/idl/types.ts';
import type { ApiObject, JsonObject, JsonValue } from '../../../src/api/object-meta.ts';
import type { MessageSchema } from '../../../src/api/schema.ts';
import { decodeObject } from '../../../src/codec/decode.ts';
import { isObject } from '../../../src/object/json-values.ts';
import { compare, everythingNewIn } from '../../../src/object/managed-fields/compare.ts';
import { type FieldSet, setOf, sorted } from '../../../src/object/managed-fields/field-set.ts';
import { emptyObject, type Shape, shapeOfMessage } from '../../../src/object/managed-fields/shape.ts';
import { trackUpdate, type Writing } from '../../../src/object/managed-fields/track.ts';
import { RandomObjects } from '../../codec/random-object.ts';
import { BUILT_IN_RESOURCES } from '../../kit/built-in-resources.ts';
import { plainCompare, plainTrack } from './plain-way.ts';

const types = loadTypes();
const DEDUCED: Shape = { kind: 'deduced' };

/** What random objects do not have of themselves. */
const ODD_VALUES: readonly JsonValue[] = [null, {}, [], '', 0, { constructor: 'x' }, [{}], [null, 'a', 'a']];

/** A copy in which about one part in `rarity` is gone, odd, twice there or something else. */
class Changer {
  #state: number;
  readonly #rarity: number;

  constructor(seed: number, rarity: number) {
    this.#state = seed;
    this.#rarity = rarity;
  }

  changed(value: JsonValue): JsonValue {
    if (Array.isArray(value)) {
      const items = value.filter(() => !this.#strikes()).map((item) => this.changed(item));
      if (this.#strikes() && items[0] !== undefined) items.push(structuredClone(items[0]));
      return this.#strikes() ? items.reverse() : items;
    }
    if (isObject(value)) return this.#object(value);
    return this.#strikes() ? `${String(value)}!` : value;
  }

  #object(value: JsonObject): JsonObject {
    const out: JsonObject = {};
    for (const [key, inner] of Object.entries(value)) {
      if (this.#strikes()) continue;
      if (this.#strikes()) out[key] = ODD_VALUES[this.#below(ODD_VALUES.length)];
      else out[key] = this.#strikes() ? undefined : this.changed(inner ?? null);
    }
    if (this.#strikes()) out[`new${this.#below(3)}`] = 'x';
    return out;
  }

  #strikes(): boolean {
    return this.#below(this.#rarity) === 0;
  }

  #below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return (this.#state >>> 8) % limit;
  }
}

/** Random objects of a type, then much of the same with changes, as the many objects of a cluster are. */
function* objectsOf(schema: MessageSchema): Generator<JsonObject> {
  for (let seed = 1; seed <= 3; seed += 1) {
    const { object } = decodeObject(new RandomObjects(seed).object(schema), schema);
    const { managedFields: _, ...metadata } = (object.metadata ?? {}) as JsonObject;
    yield { ...object, metadata };
    yield structuredClone({ ...object, metadata });
    for (const rarity of [200, 40, 8])
      yield new Changer(seed + rarity, rarity).changed({ ...object, metadata }) as JsonObject;
  }
}

const text = (set: FieldSet): string => JSON.stringify(sorted(set));

test('of a new object of any type the same is owned whether its like was there before or not', () => {
  for (const { storage } of BUILT_IN_RESOURCES) {
    const schema = types.message(storage.type);
    for (const object of objectsOf(schema)) {
      for (const [shape, blank] of [
        [shapeOfMessage(schema), emptyObject(schema)],
        [DEDUCED, {}],
      ] as const) {
        const plain = text(plainCompare(blank, object, shape).written);
        expect(text(everythingNewIn(object, shape)), storage.type).toBe(plain);
        expect(text(everythingNewIn(structuredClone(object), shape)), storage.type).toBe(plain);
      }
    }
  }
});

test('the changes between two objects of any type are found in one walk as they are in many', () => {
  for (const { storage } of BUILT_IN_RESOURCES) {
    const schema = types.message(storage.type);
    let before: JsonObject = emptyObject(schema);
    for (const after of objectsOf(schema)) {
      for (const shape of [shapeOfMessage(schema), DEDUCED]) {
        const plain = plainCompare(before, after, shape);
        const found = compare(before, after, shape);
        expect(text(found.written), storage.type).toBe(text(plain.written));
        expect(text(found.removed), storage.type).toBe(text(plain.removed));
      }
      before = after;
    }
  }
});

const same = (objects: readonly JsonObject[]): readonly JsonObject[] => objects;

function writingOf(schema: MessageSchema, turn: number): Writing {
  const version = { apiVersion: 'v1', shape: shapeOfMessage(schema), convert: same, convertBack: same };
  const resets = [setOf(), setOf(['status']), setOf(['spec'], ['metadata', 'labels'])];
  return {
    manager: `m${turn % 3}`,
    subresource: turn % 4 === 0 ? 'status' : '',
    version,
    reset: resets[turn % resets.length] ?? setOf(),
    findVersion: () => version,
    now: `2026-01-01T00:00:${String(turn).padStart(2, '0')}Z`,
  };
}

test('after any row of writes the owners are, to the byte, what the rules make of them', () => {
  for (const { storage } of BUILT_IN_RESOURCES) {
    const schema = types.message(storage.type);
    const objects = [...objectsOf(schema)].filter((object) => isObject(object.metadata)) as ApiObject[];
    let [old, plainOld]: (ApiObject | undefined)[] = [];
    for (const [turn, object] of [...objects, ...objects].entries()) {
      const [quick, plain] = [structuredClone(object), structuredClone(object)];
      const writing = writingOf(schema, turn);
      trackUpdate(quick, old, writing);
      plainTrack(plain, plainOld, writing);
      expect(JSON.stringify(quick), `${storage.type}, write ${turn}`).toBe(JSON.stringify(plain));
      const gone = quick.metadata.managedFields === undefined;
      old = gone ? undefined : (JSON.parse(JSON.stringify(quick)) as ApiObject);
      plainOld = gone ? undefined : (JSON.parse(JSON.stringify(plain)) as ApiObject);
    }
  }
});
