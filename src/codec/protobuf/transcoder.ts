import type { FieldSchema, MessageSchema, ScalarKind, ValueSchema } from '../../api/schema.ts';
import { parseJsonBytes } from '../../object/exact-json.ts';
import {
  ESCAPED_TEXT,
  FALSE,
  hashKey,
  JsonTokens,
  LIST,
  NULL,
  NUMBER,
  OBJECT,
  SET,
  TEXT,
  TRUE,
} from '../json-tokens.ts';
import { compileValue, compileZero, type EncodeValue, out } from './encoder.ts';
import { DELIMITED, tag, VARINT, wireTypeOf } from './scalars.ts';

/**
 * Encodes messages from the JSON of stored objects, without making the objects: texts are copied, and nothing becomes garbage. A pod
 * takes half of the time of parsing and encoding it. The bytes are those of encoder.ts, which encodes what this leaves to it: values that are rare, and objects that are large.
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

interface MessagePlan {
  /** Hashes of the names, in the order of declaration, which is that of stored JSON. */
  readonly hashes: Int32Array;
  readonly names: readonly Buffer[];
  /** By number, the highest first. */
  readonly backwards: readonly FieldPlan[];
}

type FieldPlan =
  | {
      readonly group: undefined;
      readonly slot: number;
      readonly value: ValuePlan;
      /** Writes the absent field. */
      readonly writeZero: (() => void) | undefined;
    }
  /** Fields that are in a message of their own on the wire. */
  | { readonly group: readonly FieldPlan[]; readonly tag: number };

/** How a value is written: `other` as the encoder does it with the parsed value. */
type ValuePlan = {
  /** With its wire type. */
  readonly tag: number;
  /** Encodes the parsed value. */
  readonly encode: EncodeValue;
} & (
  | { readonly kind: ScalarWritten | 'other' }
  | { readonly kind: 'message'; readonly message: MessageSchema }
  | { readonly kind: 'list' | 'wrapped'; readonly item: ValuePlan }
  | { readonly kind: 'map'; readonly item: ValuePlan }
);

type ScalarWritten = (typeof SCALARS_WRITTEN)[number];

const SCALARS_WRITTEN = ['string', 'bool', 'int32', 'int64', 'Time', 'Quantity', 'FieldsV1'] as const;

const isWritten = (kind: ScalarKind): kind is ScalarWritten =>
  (SCALARS_WRITTEN as readonly string[]).includes(kind);

const plans = new WeakMap<MessageSchema, MessagePlan>();

function planOf(schema: MessageSchema): MessagePlan {
  let plan = plans.get(schema);
  if (plan === undefined) {
    const fields = [...schema.fields.values()];
    plan = {
      hashes: Int32Array.from(fields, ({ name }) => hashKey(name)),
      names: fields.map(({ name }) => Buffer.from(name)),
      backwards: planFields(
        fields.map((field, slot) => ({ field, slot })),
        0,
      ),
    };
    plans.set(schema, plan);
  }
  return plan;
}

interface Placed {
  readonly field: FieldSchema;
  readonly slot: number;
}

function planFields(fields: readonly Placed[], depth: number): FieldPlan[] {
  const byNumber = new Map<number, FieldPlan>();
  const nested = new Map<number, Placed[]>();
  for (const placed of fields) {
    const { number, nesting } = placed.field;
    const outer = nesting[depth];
    if (outer !== undefined) nested.set(outer, [...(nested.get(outer) ?? []), placed]);
    else if (number !== undefined) byNumber.set(number, planField(placed, number));
  }
  for (const [number, inner] of nested) byNumber.set(number, planGroup(number, planFields(inner, depth + 1)));
  return [...byNumber].sort(([a], [b]) => b - a).map(([, plan]) => plan);
}

function planField({ field, slot }: Placed, number: number): FieldPlan {
  const value = planValue(field.value, number);
  const writeZero = field.isPointer ? undefined : compileZero(field.value, number, value.encode);
  return { group: undefined, slot, value, writeZero };
}

const planGroup = (number: number, group: readonly FieldPlan[]): FieldPlan => ({
  group,
  tag: tag(number, DELIMITED),
});

function planValue(schema: ValueSchema, number: number): ValuePlan {
  const plan = { tag: tag(number, DELIMITED), encode: compileValue(schema, number) };
  switch (schema.kind) {
    case 'message':
      return { ...plan, kind: 'message', message: schema.message };
    case 'list':
      return schema.wrapped
        ? { ...plan, kind: 'wrapped', item: planValue(schema.items, 1) }
        : { ...plan, kind: 'list', item: planValue(schema.items, number) };
    case 'map':
      return { ...plan, kind: 'map', item: planValue(schema.values, 2) };
    case 'SchemaOrArray':
    case 'SchemaOrBool':
    case 'SchemaOrStringArray':
      return { ...plan, kind: 'other' };
    default: {
      const { kind } = schema;
      return { ...plan, tag: tag(number, wireTypeOf(kind)), kind: isWritten(kind) ? kind : 'other' };
    }
  }
}

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
      const number = kind === NUMBER ? smallNumber(token) : -1;
      if (number < 0) return encodeParsed(plan, token);
      out.varint(number);
      return VARINT;
    }
    case 'Time': {
      const seconds = kind === TEXT ? secondsOf(token) : -1;
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
  const end = tokens.nexts[map] ?? 0;
  for (let key = map + 1; key < end; key = tokens.nexts[key + 1] ?? 0) {
    if (tokens.kinds[key] !== TEXT || tokens.kinds[key + 1] === NULL) throw UNUSUAL;
    // Where keys are out of order, encoder.ts sorts them.
    if (itemsUsed > base && !isBefore(items[itemsUsed - 1] ?? 0, key)) {
      itemsUsed = base;
      plan.encode(parsed(map));
      return;
    }
    pushItem(key);
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

/** Whether one key sorts before another. Keys that are not ASCII do not: their order as UTF-16 may be another. */
function isBefore(one: number, other: number): boolean {
  const { bytes, starts, ends } = tokens;
  const start = starts[one] ?? 0;
  const length = (ends[one] ?? 0) - start;
  const otherStart = starts[other] ?? 0;
  const otherLength = (ends[other] ?? 0) - otherStart;
  for (let at = 0; at < length && at < otherLength; at += 1) {
    const a = bytes[start + at] ?? 0;
    const b = bytes[otherStart + at] ?? 0;
    if (a > 0x7f || b > 0x7f) return false;
    if (a !== b) return a < b;
  }
  return length < otherLength;
}

const SECONDS = tag(1, VARINT);
const NANOS = tag(2, VARINT);

const TIME_MARKS = Buffer.from('0000-00-00T00:00:00Z');
const DIGIT = 0x30;

/** Seconds since 1970 of a time as the server writes it, 2006-01-02T15:04:05Z; -1 for any other text. */
function secondsOf(token: number): number {
  const { bytes, starts, ends } = tokens;
  const start = starts[token] ?? 0;
  if ((ends[token] ?? 0) - start !== TIME_MARKS.length) return -1;
  for (let at = 0; at < TIME_MARKS.length; at += 1)
    if (TIME_MARKS[at] !== DIGIT && bytes[start + at] !== TIME_MARKS[at]) return -1;
  const year = digits(start, 4);
  const month = digits(start + 5, 2);
  const day = digits(start + 8, 2);
  const hour = digits(start + 11, 2);
  const minute = digits(start + 14, 2);
  const second = digits(start + 17, 2);
  // Each month has 28 days. The others are left to Date, as is every text that is not a time.
  const isTime = year >= 1970 && month > 0 && month <= 12 && day > 0 && day <= 28;
  if (!isTime || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return -1;
  return Date.UTC(year, month - 1, day) / 1000 + hour * 3600 + minute * 60 + second;
}

/** -1: not digits alone. */
function digits(from: number, count: number): number {
  let value = 0;
  for (let at = from; at < from + count; at += 1) {
    const digit = (tokens.bytes[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

const MAX_DIGITS = 15;

/** The value of digits alone; -1 for any other number. */
function smallNumber(token: number): number {
  const start = tokens.starts[token] ?? 0;
  const end = tokens.ends[token] ?? 0;
  if (end - start > MAX_DIGITS) return -1;
  return digits(start, end - start);
}

function textOf(token: number): string {
  if (tokens.kinds[token] !== ESCAPED_TEXT) throw UNUSUAL;
  return JSON.parse(
    tokens.bytes.toString('utf8', (tokens.starts[token] ?? 0) - 1, (tokens.ends[token] ?? 0) + 1),
  );
}

/** The value of any token but a key. */
function parsed(token: number): ReturnType<typeof parseJsonBytes> {
  const kind = tokens.kinds[token];
  const start = tokens.starts[token] ?? 0;
  if (kind === TEXT) return tokens.bytes.toString('utf8', start, tokens.ends[token]);
  if (kind === ESCAPED_TEXT) return textOf(token);
  // A set may contain what a parser of sets alone reads.
  if (kind === SET) throw UNUSUAL;
  const number = kind === NUMBER ? smallNumber(token) : -1;
  return number < 0 ? parseJsonBytes(tokens.bytes.subarray(start, tokens.ends[token])) : number;
}
