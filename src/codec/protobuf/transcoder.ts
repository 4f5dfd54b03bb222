import type { JsonValue } from '../../api/object-meta.ts';
import type { MessageSchema } from '../../api/schema.ts';
import { FALSE, JsonTokens, LIST, NULL, NUMBER, OBJECT, SET, TEXT, TRUE } from '../json-tokens.ts';
import { compareKeys, secondsOf, smallNumber, UNCLEAR, valueAt } from '../token-values.ts';
import { out } from './encoder.ts';
import { type FieldPlan, type MessagePlan, planOf, type ValuePlan } from './message-plan.ts';
import { DELIMITED, tag, VARINT } from './scalars.ts';

/**
 * Encodes messages from the JSON of stored objects, without making the objects: texts are copied, and nothing becomes garbage. A pod
 * takes half of the time of parsing and encoding it. The bytes are those of encoder.ts, which encodes what this leaves to it: values that
 * are rare, and objects that are large.
 */

const MAX_BYTES = 256 * 1024;
const METADATA = Buffer.from('"metadata":{');

const tokens = new JsonTokens(MAX_BYTES);

/** Thrown for an object that is not as one is stored. */
const UNUSUAL = new Error('the object is not as objects are stored');

export interface StoredBytes {
  readonly json: Buffer;
  /** Where the bytes to encode end: the whole, or the metadata alone. */
  readonly end: number;
  /** '': none. */
  readonly resourceVersion: string;
}

/** The message of a stored object; undefined when it must be parsed and encoded instead. The bytes may be used until the next call. */
export function encodeStored(stored: StoredBytes, schema: MessageSchema): Buffer | undefined {
  out.reset();
  return writeStored(stored, schema) ? out.view() : undefined;
}

/** {@link encodeStored} as an item of a list, behind its tag and length. */
export function encodeStoredItem(
  stored: StoredBytes,
  schema: MessageSchema,
  field: number,
): Buffer | undefined {
  out.reset();
  if (!writeStored(stored, schema)) return undefined;
  out.varint(out.written);
  out.varint(tag(field, DELIMITED));
  return out.view();
}

function writeStored({ json, end, resourceVersion }: StoredBytes, schema: MessageSchema): boolean {
  const metadata = json.indexOf(METADATA);
  if (metadata < 0 || end > MAX_BYTES - ROOM) return false;
  const { bytes } = tokens;
  let at = bytes.write(
    resourceVersion === '' ? '{"metadata":{' : `{"metadata":{"resourceVersion":"${resourceVersion}",`,
    'latin1',
  );
  const from = metadata + METADATA.length;
  if (end <= from) return false;
  // `fill` copies out of shared memory in one piece, `set` word by word.
  bytes.fill(json.subarray(from, end), at, at + end - from);
  at += end - from;
  if (end < json.length) {
    bytes[at] = 0x7d;
    at += 1;
  }
  if (!tokens.read(at)) return false;
  slotsUsed = 1;
  itemsUsed = 0;
  try {
    writeFields(planOf(schema), 0);
    return true;
  } catch (error) {
    // A parser that reads the whole object says what is wrong with it.
    if (error === UNUSUAL || error instanceof SyntaxError) return false;
    throw error;
  }
}

/** For what precedes the metadata's fields. */
const ROOM = 100;

/** The value of each field of the open messages, as a token; 0 for none. */
let slots = new Int32Array(4096);
let slotsUsed = 1;

function writeFields(plan: MessagePlan, object: number): void {
  const base = slotsUsed;
  const { hashes, backwards } = plan;
  const count = hashes.length;
  slotsUsed = base + count;
  if (slotsUsed > slots.length) slots = growSlots();
  for (let slot = base; slot < slotsUsed; slot += 1) slots[slot] = 0;
  const { nexts } = tokens;
  const end = nexts[object] ?? 0;
  let from = 0;
  for (let key = object + 1; key < end; ) {
    const slot = findField(plan, key, from);
    if (slot >= 0) {
      slots[base + slot] = key + 1;
      from = slot + 1;
    }
    key = nexts[key + 1] ?? 0;
  }
  for (const field of backwards) writeField(field, base);
  slotsUsed = base;
}

function growSlots(): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(slotsUsed * 2);
  larger.set(slots);
  return larger;
}

/** Looks from `from` on first: fields are mostly in order. */
function findField({ hashes, names }: MessagePlan, key: number, from: number): number {
  const hash = tokens.nexts[key] ?? 0;
  const count = hashes.length;
  for (let step = 0, slot = from; step < count; step += 1, slot += 1) {
    if (slot >= count) slot = 0;
    if (hashes[slot] === hash && isNamed(names[slot], key)) return slot;
  }
  return -1;
}

function isNamed(name: Buffer | undefined, key: number): boolean {
  const start = tokens.starts[key] ?? 0;
  if (name === undefined || (tokens.ends[key] ?? 0) - start !== name.length) return false;
  for (let at = 0; at < name.length; at += 1) if (tokens.bytes[start + at] !== name[at]) return false;
  return true;
}

function writeField(plan: FieldPlan, base: number): void {
  if (plan.group !== undefined) {
    const before = out.written;
    for (const field of plan.group) writeField(field, base);
    out.varint(out.written - before);
    out.varint(plan.tag);
    return;
  }
  const token = slots[base + plan.slot] ?? 0;
  if (token !== 0 && tokens.kinds[token] !== NULL) writeValue(plan.value, token);
  else plan.writeZero?.();
}

/** Writes a value behind its tag. */
function writeValue(plan: ValuePlan, token: number): void {
  const before = out.written;
  const written = writeContent(plan, token);
  if (written === WHOLE) return;
  if (written === DELIMITED) out.varint(out.written - before);
  out.varint(plan.tag);
}

/** Fields of a time. */
const SECONDS = tag(1, VARINT);
const NANOS = tag(2, VARINT);

/** Length and tag are written too. */
const WHOLE = -1;

/** Writes what is behind tag and length, or {@link WHOLE}. Returns which, as the wire type of what is written. */
function writeContent(plan: ValuePlan, token: number): typeof VARINT | typeof DELIMITED | typeof WHOLE {
  const kind = tokens.kinds[token] ?? 0;
  switch (plan.kind) {
    case 'string':
      if (kind !== TEXT) return encodeParsed(plan, token);
      out.part(tokens.bytes, tokens.starts[token] ?? 0, tokens.ends[token] ?? 0);
      return DELIMITED;
    case 'Quantity':
      if (kind !== TEXT) return encodeParsed(plan, token);
      writeText(token);
      return DELIMITED;
    case 'bool':
      if (kind !== TRUE && kind !== FALSE) throw UNUSUAL;
      out.varint(kind === TRUE ? 1 : 0);
      return VARINT;
    case 'int32':
    case 'int64': {
      const number = kind === NUMBER ? smallNumber(tokens, token) : -1;
      if (number < 0) return encodeParsed(plan, token);
      out.varint(number);
      return VARINT;
    }
    case 'Time': {
      const seconds = kind === TEXT ? secondsOf(tokens, token) : -1;
      if (seconds < 0) return encodeParsed(plan, token);
      out.zero(NANOS);
      out.varint(seconds);
      out.varint(SECONDS);
      return DELIMITED;
    }
    case 'FieldsV1':
      if (kind !== SET) throw UNUSUAL;
      writeText(token);
      return DELIMITED;
    case 'message':
      if (kind !== OBJECT) throw UNUSUAL;
      writeFields(planOf(plan.message), token);
      return DELIMITED;
    case 'list':
      writeItems(plan.item, token);
      return WHOLE;
    case 'wrapped':
      writeItems(plan.item, token);
      return DELIMITED;
    case 'map':
      writeMap(plan, token);
      return WHOLE;
    case 'other':
      return encodeParsed(plan, token);
    default:
      return plan satisfies never;
  }
}

function encodeParsed({ encode }: ValuePlan, token: number): typeof WHOLE {
  encode(parsed(token));
  return WHOLE;
}

const TEXT_TAG = tag(1, DELIMITED);

/** The first field of the message that a text is in. */
function writeText(token: number): void {
  const start = tokens.starts[token] ?? 0;
  const end = tokens.ends[token] ?? 0;
  out.part(tokens.bytes, start, end);
  out.varint(end - start);
  out.varint(TEXT_TAG);
}

/** The tokens of a list's items or of a map's keys, as a stack. */
let items = new Int32Array(1024);
let itemsUsed = 0;

function pushItem(token: number): void {
  if (itemsUsed === items.length) {
    const larger = new Int32Array(itemsUsed * 2);
    larger.set(items);
    items = larger;
  }
  items[itemsUsed] = token;
  itemsUsed += 1;
}

function writeItems(plan: ValuePlan, list: number): void {
  if (tokens.kinds[list] !== LIST) throw UNUSUAL;
  const base = itemsUsed;
  const end = tokens.nexts[list] ?? 0;
  for (let token = list + 1; token < end; token = tokens.nexts[token] ?? 0) pushItem(token);
  while (itemsUsed > base) {
    itemsUsed -= 1;
    const token = items[itemsUsed] ?? 0;
    if (tokens.kinds[token] === NULL) throw UNUSUAL;
    writeValue(plan, token);
  }
}

/** Entries are in the order of their keys. */
function writeMap(plan: ValuePlan & { readonly kind: 'map' }, map: number): void {
  if (tokens.kinds[map] !== OBJECT) throw UNUSUAL;
  const base = itemsUsed;
  if (!pushSorted(map)) {
    itemsUsed = base;
    plan.encode(parsed(map));
    return;
  }
  while (itemsUsed > base) {
    itemsUsed -= 1;
    const key = items[itemsUsed] ?? 0;
    const before = out.written;
    writeValue(plan.item, key + 1);
    writeText(key);
    out.varint(out.written - before);
    out.varint(plan.tag);
  }
}

/** Keys of a map that is out of order. A longer one is left to the encoder, whose way of sorting suits it better. */
const MAX_UNSORTED = 64;

/** Pushes the keys of a map in their order. False where that is not clear from the bytes. */
function pushSorted(map: number): boolean {
  const base = itemsUsed;
  const end = tokens.nexts[map] ?? 0;
  for (let key = map + 1; key < end; key = tokens.nexts[key + 1] ?? 0) {
    if (tokens.kinds[key] !== TEXT || tokens.kinds[key + 1] === NULL) throw UNUSUAL;
    pushItem(key);
    for (let place = itemsUsed - 1; place > base; place -= 1) {
      const other = items[place - 1] ?? 0;
      const order = compareKeys(tokens, other, key);
      if (order < 0) break;
      if (order === UNCLEAR || itemsUsed - base > MAX_UNSORTED) return false;
      items[place] = other;
      items[place - 1] = key;
    }
  }
  return true;
}

/** The value of any token but a key. */
function parsed(token: number): JsonValue {
  const value = valueAt(tokens, token);
  if (value === undefined) throw UNUSUAL;
  return value;
}
